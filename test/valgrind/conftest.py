"""Fixtures for the tests of frontload-valgrind: compile a program, record it, read its touches."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import compile_to

sys.path.append(str(Path(__file__).parent.parent / "tracer"))  # the decoder is the same
from recorded import Binary, Recording


@pytest.fixture(scope="session")
def recorder(build) -> Path:
    """frontload-valgrind itself; skips where there is no valgrind."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    return build / "bin" / "frontload-valgrind"


@pytest.fixture
def compile(tmp_path) -> Callable[..., Path]:
    """compile(source, *flags, name="program", cc="gcc"): a program from the text of a C file."""

    def compile(source, *flags, name="program", cc="gcc"):
        output = tmp_path / name
        output.parent.mkdir(exist_ok=True)
        file = f"{output.stem}.c"
        return compile_to(output, cc, "-O1", "-Wall", "-falign-functions=16", file, *flags,
                          sources={file: source})

    return compile


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
        recording = Recording.until_its_end(process, tmp_path / "traces", 100)
        assert not list((tmp_path / "tmp").iterdir())
        return recording

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
