"""A program of random instructions does the same with and without breakpoints in it."""

import platform

import pytest
from compiled import compile_to
from generated_code import DRIVER, Generator
from traced import Binary

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="instructions of AArch64 have fixed places")


@pytest.mark.parametrize(("seed", "count"), [
    (1, 500), pytest.param(2, 10_000, marks=pytest.mark.slow)])
def test_generated_functions(seed, count, run, record, tmp_path):
    """Functions with entries behind prefixes, in constants and where jumps lead, and copies."""
    generator = Generator(seed)
    program = compile_to(
        tmp_path / "generated", "gcc", "-O1", "main.c", "functions.s",
        sources={"main.c": DRIVER,
                 "functions.s": generator.source(count)})
    expected = run(program, code=3).stdout
    recording = record("--", program)
    assert (recording.status, recording.stdout) == (3, expected)
    found = {name for name in Binary(program).named(recording.trace.addresses()) if name[0] == "e"}
    assert count < len(found) < generator.entries  # some of these entries are inside of others
