"""Fixtures for the tests of frontload-trace: compile a program, record it, read what it touched."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import compile_to
from traced import PROGRAMS, Recording


@pytest.fixture(scope="session")
def tracer(build, tmp_path_factory) -> Path:
    """frontload-trace itself; skips where ptrace is not permitted."""
    program = build / "bin" / "frontload-trace"
    probe = subprocess.run([program, "-o", tmp_path_factory.mktemp("probe") / "t", "--", "true"],
                           capture_output=True, text=True)
    if "error: ptrace" in probe.stderr:
        pytest.skip(f"ptrace is not permitted here: {probe.stderr}")
    return program


@pytest.fixture
def compile(tmp_path) -> Callable[..., Path]:
    """compile(source, *flags, cc="gcc", name=None): the path of the program, in tmp_path. `source`
    is a file in programs/ or, if it holds a brace, the text of a C program."""

    def compile(source, *flags, cc="gcc", name=None):
        file = f"{name or 'program'}.c" if "{" in source else source
        text = source if "{" in source else PROGRAMS / source
        return compile_to(tmp_path / (name or Path(file).stem), cc, "-g", "-Wall", file, *flags,
                          sources={file: text})

    return compile


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
    """finish(process): waits for its end; the limit is for broken programs, on slow machines."""
    return lambda process: Recording.until_its_end(process, tmp_path / "traces", 600)


@pytest.fixture
def record(start, finish) -> Callable[..., Recording]:
    """record(*options, "--", *command): a whole recording."""
    return lambda *arguments, **options: finish(start(*arguments, **options))
