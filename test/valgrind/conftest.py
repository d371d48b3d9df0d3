"""Fixtures for the tests of frontload-valgrind: compile a program, record it, read its touches."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import abilities
import pytest
from c_headers import HEADERS
from compiled import compile_to

sys.path.append(str(Path(__file__).parent.parent / "tracer"))  # the decoder is the same
from recorded import Binary, Recording

PRELUDE = "#define _GNU_SOURCE\n" + HEADERS + """
#define DATA __attribute__((aligned(16))) volatile int
#define FUNCTION __attribute__((noinline, aligned(16))) void
"""


@pytest.fixture(scope="session")
def recorder(build) -> Path:
    """frontload-valgrind itself."""
    abilities.need("valgrind")
    return build / "bin" / "frontload-valgrind"


@pytest.fixture
def compile(tmp_path) -> Callable[..., Path]:
    """compile(source, *flags, name="program", cc="gcc"): a program from the text of a C file."""

    def compile(source, *flags, name="program", cc="gcc"):
        output = tmp_path / name
        output.parent.mkdir(exist_ok=True)
        file = f"{output.stem}.c"
        return compile_to(output, cc, "-O1", "-Wall", "-falign-functions=16", file, *flags,
                          sources={file: PRELUDE + source})

    return compile


@pytest.fixture
def program(compile) -> Path:
    """A program that touches one datum, and returns 5."""
    return compile("int my_data[64] = {1}; int main(void) { return my_data[9] + 5; }",
                   name="elsewhere/program")


@pytest.fixture
def library(compile) -> Path:
    return compile("""
        __attribute__((aligned(16))) int my_table[16] = {1};
        __attribute__((aligned(16))) int my_data[16] = {1};
        int my_function(void) { return my_table[4] + 3; }""",
                   "-shared", "-fPIC", "-Wl,-soname,libmy.so.1", name="libmy.so")


@pytest.fixture
def start(recorder, tmp_path, spawn) -> Callable[..., subprocess.Popen]:
    """start(*options, "--", *command): a recording that goes on; traces go to tmp_path/traces, and
    temporary files to tmp_path/tmp."""
    for folder in ("traces", "tmp"):
        (tmp_path / folder).mkdir(exist_ok=True)

    def start(*arguments, env=None, **options):
        return spawn(recorder, "-o", tmp_path / "traces/%m.%p.fltrace", *arguments,
                     env=os.environ | {"TMPDIR": str(tmp_path / "tmp")} | (env or {}), **options)

    return start


@pytest.fixture
def finish(tmp_path) -> Callable[[subprocess.Popen], Recording]:
    """finish(process): waits for its end, which leaves no temporary files."""

    def finish(process):
        stdout, stderr = process.communicate()
        assert not list((tmp_path / "tmp").iterdir())
        return Recording(process.returncode, stdout, stderr,
                         sorted((tmp_path / "traces").iterdir()))

    return finish


@pytest.fixture
def record(start, finish) -> Callable[..., Recording]:
    """record(*options, "--", *command): a whole recording."""
    return lambda *arguments, **options: finish(start(*arguments, **options))


@pytest.fixture
def touches(record) -> Callable[..., list[str]]:
    """touches(program, *arguments): what a successful recording of it has touched, see Binary."""

    def touches(program, *arguments):
        recording = record("--", program, *arguments)
        assert (recording.status, recording.stderr) == (0, "")
        return Binary(program).touches(recording.trace)

    return touches
