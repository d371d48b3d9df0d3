"""Fixtures of the tests of order files, which real linkers have to follow."""

import shutil

import pytest
from compiled import compiled
from ordered_program import COMPILED, COMPILERS, MAIN, UNIT, UNITS, Built


@pytest.fixture
def build_program(tmp_path, llvm, run, frontload):
    """build_program(compiler, *flags): the program's objects, which no test may change."""
    main = MAIN % {"declarations": "\n".join(f"int {unit}(int);" for unit in UNITS),
                   "functions": ", ".join(UNITS), "count": len(UNITS)}
    texts = {"main": main} | {unit: UNIT % {"name": unit, "number": number}
                              for number, unit in enumerate(UNITS, 2)}

    def build_program(compiler="gcc", *flags) -> Built:
        driver = COMPILERS[compiler] or llvm / "clang++"
        objects = [compiled(driver, *COMPILED, *flags, "-c", f"{name}.cpp", output=f"{name}.o",
                            sources={f"{name}.cpp": text}) for name, text in texts.items()]
        return Built(objects, tmp_path, driver, run, frontload, flags)

    return build_program


@pytest.fixture
def need():
    """need(program): skips the test, saying so, where a program is missing."""

    def need(program: str) -> None:
        if not shutil.which(program):
            pytest.skip(f"no {program} on this machine")

    return need
