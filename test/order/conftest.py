"""Fixtures of the tests of order files, which real linkers have to follow."""

import shutil
from pathlib import Path

import pytest
from ordered_program import COMPILERS, MAIN, UNIT, UNITS, Built, compile_text


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The program's objects by compiler and flags: each is compiled once for all tests."""
    known: dict[tuple, list[Path]] = {}

    def compiled(run, compiler, flags) -> list[Path]:
        key = (compiler, *flags)
        if key not in known:
            folder = tmp_path_factory.mktemp("program")
            main = MAIN % {"declarations": "\n".join(f"int {unit}(int);" for unit in UNITS),
                           "functions": ", ".join(UNITS), "count": len(UNITS)}
            texts = {"main": main} | {unit: UNIT % {"name": unit, "number": number}
                                      for number, unit in enumerate(UNITS, 2)}
            known[key] = [compile_text(run, compiler, folder, name, text, flags)
                          for name, text in texts.items()]
        return known[key]

    return compiled


@pytest.fixture
def build_program(tmp_path, llvm, run, frontload, compiled):
    """build_program(compiler, *flags): the program's objects."""

    def build_program(compiler="gcc", *flags) -> Built:
        driver = COMPILERS[compiler] or llvm / "clang++"
        return Built(compiled(run, driver, flags), tmp_path, driver, run, frontload, flags)

    return build_program


@pytest.fixture
def need():
    """need(program): skips the test, saying so, where a program is missing."""

    def need(program: str) -> None:
        if not shutil.which(program):
            pytest.skip(f"no {program} on this machine")

    return need
