"""The matrix of Rust: modes, manglings and linkers, over two versions of a library and program."""

import pytest
from consumers import LD_FRONTLOAD, LLD
from rust import MANGLINGS, MODES


@pytest.mark.parametrize("linker", [LLD, LD_FRONTLOAD], ids=lambda linker: linker.name)
@pytest.mark.parametrize("mangling", MANGLINGS)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_profile_serves_the_build_it_was_recorded_from_and_the_next(matrix, rust_builds,
                                                                      mode, mangling, linker):
    profile = matrix.record(rust_builds.program(mode, mangling, 1))
    problems = {}
    for version in (1, 2):
        program = rust_builds.program(mode, mangling, version)
        result = matrix.link(f"rustc {mode.name} {mangling}", program, linker, version, profile)
        problems[version] = result.problems()
    assert problems == {1: [], 2: []}
