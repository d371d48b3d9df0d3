"""The matrix of Rust: modes, manglings and linkers, and two versions of a library and program, as
far as pairs.py chooses."""

from itertools import product

import pytest
from abilities import needs
from cells import problems, recorded
from consumers import LD_FRONTLOAD, LLD
from pairs import chosen
from places import ALL
from programs import MANGLINGS, RUST_DEBUG, RUST_LTO, RUST_RELEASE, tally

pytestmark = needs("ptrace", "rustc")

# rustc's LTO takes seconds each time.
CELLS = [cell for cell in product((RUST_DEBUG, RUST_RELEASE, RUST_LTO), MANGLINGS,
                                  (LLD, LD_FRONTLOAD), (2, 1))
         if ALL or cell[:2] != (RUST_LTO, "default")]


def _name(value) -> str:
    return str(value) if isinstance(value, str | int) else value.name


@pytest.mark.parametrize(("mode", "mangling", "linker", "version"), chosen(CELLS), ids=_name)
def test_a_profile_serves_the_build_it_was_recorded_from_and_the_next(tmp_path, mode, mangling,
                                                                      linker, version):
    """Without optimisation, older versions of rustc have namesakes in one section."""
    before = recorded(tally(mode, mangling, 1))
    assert not problems(before, tally(mode, mangling, version), linker, tmp_path,
                        out_of_order=2 if mode == RUST_DEBUG else 0)
