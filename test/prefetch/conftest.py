"""Links programs with a note, runs them, and looks at what the prefetcher asks the kernel for."""

import functools
import shutil
import subprocess
from pathlib import Path

import noted
import pytest
from compiled import compile_to
from noted import COLD, PROGRAMS, requests


@pytest.fixture(scope="session")
def library(build) -> Path:
    return build / "lib" / "libfrontload-prefetch.so"


@pytest.fixture(scope="session")
def archive(build) -> Path:
    return build / "lib" / "libfrontload-prefetch.a"


@pytest.fixture(scope="session")
def linked(tmp_path_factory):
    """linked(*flags): programs/front.s and main.c linked with flags, once for each set of them."""

    @functools.cache
    def linked(*flags, compiler="gcc"):
        return compile_to(
            tmp_path_factory.mktemp("linked") / "program", compiler, "-O1", "main.c", "front.s",
            *flags, sources={name: PROGRAMS / name for name in ("main.c", "front.s")})

    return linked


@pytest.fixture
def program(linked, library, tmp_path):
    """program(*flags): a program with a note of what front.s calls its front; by default one that
    prefetches itself. Other tests have the same file, unless it is a `copy`."""
    itself = "-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}"

    def program(*flags, compiler="gcc", copy=False):
        path = linked(*(flags or itself), compiler=compiler)
        return noted.Noted(Path(shutil.copy(path, tmp_path)) if copy else path).write_ranges()

    return program


@pytest.fixture
def calls(strace, run, tmp_path):
    """calls(*command): the system calls of a command and of all that it starts, one line each, once
    all of that has ended. `inject` changes what becomes of some calls; `prefix` begins all."""

    def calls(*command, inject=COLD, only=("all",), code=7, prefix=(), **options):
        log = tmp_path / "calls"
        calls.result = run(*prefix, strace, "-f", "-y", "-o", log, f"-etrace={','.join(only)}",
                           *(f"-einject={each}" for each in inject), *command, code=code,
                           **{"stdin": subprocess.DEVNULL, **options})
        return log.read_text().splitlines()

    return calls


@pytest.fixture
def asked(calls):
    """asked(made, command=None): the offset and size of each request for a file, while a command
    runs, by default this file, that finds nothing in memory."""

    def asked(made, *command, **options):
        path = getattr(made, "path", made)
        only = ("preadv2", "mincore", "readahead", *options.pop("only", ()))
        return requests(calls(*(command or [path]), only=only, **options), path)

    return asked
