"""The matrix of Rust: modes, manglings and linkers, and two versions of a library and program, as
far as pairs.py chooses."""

from itertools import product

import pytest
from consumers import LD_FRONTLOAD, LLD
from pairs import chosen
from rust import MANGLINGS, MODES

CELLS = list(product(MODES, MANGLINGS, (LLD, LD_FRONTLOAD), (2, 1)))


def _name(value) -> str:
    return str(value) if isinstance(value, str | int) else value.name


@pytest.mark.parametrize(("mode", "mangling", "linker", "version"), chosen(CELLS), ids=_name)
def test_a_profile_serves_the_build_it_was_recorded_from_and_the_next(matrix, rust_builds, mode,
                                                                      mangling, linker, version):
    profile = matrix.record(rust_builds.program(mode, mangling, 1))
    program = rust_builds.program(mode, mangling, version)
    result = matrix.link(f"rustc {mode.name} {mangling}", program, linker, version, profile)
    assert not result.problems()
