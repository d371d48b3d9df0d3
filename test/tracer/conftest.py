"""Fixtures for the tests of frontload-trace: compile a program, record it, read what it touched."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import abilities
import pytest
from c_headers import HEADERS
from compiled import compile_to
from traced import PROGRAMS, Recording

PRELUDE = "#define _GNU_SOURCE\n" + HEADERS + """
#define STEP(name) __attribute__((noinline)) void name(void) { __asm__ volatile(""); }
#define NOT_RECORDED
#define READY() (puts("ready"), fflush(stdout))
"""


@pytest.fixture
def tracer(build) -> Path:
    """frontload-trace itself; skips where ptrace is not permitted."""
    abilities.need("ptrace")
    return build / "bin" / "frontload-trace"


@pytest.fixture
def compile(tmp_path) -> Callable[..., Path]:
    """compile(source, *flags, cc="gcc", name=None): the path of the program, in tmp_path. `source`
    is a file in programs/ or, if it holds a brace, the text of a C program behind the PRELUDE."""

    def compile(source, *flags, cc="gcc", name=None, prelude=PRELUDE):
        file = f"{name or 'program'}.c" if "{" in source else source
        text = prelude + source if "{" in source else PROGRAMS / source
        return compile_to(tmp_path / (name or Path(file).stem), cc, "-g", "-Wall", file, *flags,
                          sources={file: text})

    return compile


@pytest.fixture
def opener(compile) -> Path:
    """The program that opens libraries, which the tests of the runtime have."""
    return compile((PROGRAMS.parents[1] / "runtime/programs/opener.c").read_text(), name="opener")


@pytest.fixture
def start(tracer, tmp_path, spawn) -> Callable[..., subprocess.Popen]:
    """start(*options, "--", *command): a recording that goes on; traces go to tmp_path/traces."""
    folder = tmp_path / "traces"
    folder.mkdir(exist_ok=True)

    def start(*arguments, **options):
        return spawn(tracer, "-o", folder / "%m.%p.fltrace", *arguments, **options)

    return start


@pytest.fixture
def finish(tmp_path) -> Callable[[subprocess.Popen], Recording]:
    """finish(process): waits for its end."""
    return lambda process: Recording.until_its_end(process, tmp_path / "traces")


@pytest.fixture
def record(start, finish) -> Callable[..., Recording]:
    """record(*options, "--", *command): a whole recording."""
    return lambda *arguments, **options: finish(start(*arguments, **options))
