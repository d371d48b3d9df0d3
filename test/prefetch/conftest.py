"""Links programs with a note, runs them from cold, and looks at what was prefetched."""

import os
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import noted
import pytest
from frontload.pagecache import cache as pagecache
from frontload.pagecache import mounts

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def library(build) -> Path:
    return build / "lib" / "libfrontload-prefetch.so"


@pytest.fixture(scope="session")
def archive(build) -> Path:
    return build / "lib" / "libfrontload-prefetch.a"


@pytest.fixture(scope="session")
def include() -> Path:
    return Path(__file__).parents[2] / "instrument" / "prefetch" / "include"


@pytest.fixture(scope="session")
def self_prefetching(library) -> list:
    """What ld.frontload --front-prefetch adds to a link."""
    return ["-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}"]


@pytest.fixture(scope="session")
def linked(tmp_path_factory, llvm):
    """linked(*flags): programs/front.s and main.c linked with flags, once for each set of them: to
    write and to evict so large a file takes a while."""
    files = {}

    def linked(*flags, compiler="gcc"):
        key = (compiler, *map(str, flags))
        if key not in files:
            path = tmp_path_factory.mktemp("linked") / "program"
            compiler = llvm / "clang" if compiler == "clang" else compiler
            subprocess.run([compiler, "-O1", PROGRAMS / "main.c", PROGRAMS / "front.s", *flags,
                            "-o", path], check=True)
            files[key] = path
        return files[key]

    return linked


@pytest.fixture
def program(linked, self_prefetching, tmp_path):
    """program(*flags, note=): a program with a note of what front.s calls its front; by default one
    that prefetches itself. Other tests have the same file, unless it is a `copy`."""
    if mounts.file_system(tmp_path) in mounts.IN_MEMORY:
        pytest.skip(f"{tmp_path} is in memory: nothing there can be cold")

    def program(*flags, compiler="gcc", copy=False):
        path = linked(*(flags or self_prefetching), compiler=compiler)
        made = noted.Noted(Path(shutil.copy(path, tmp_path)) if copy else path)
        return made.write(noted.note(made.ranges()))

    return program


@pytest.fixture
def started():
    """started(command): within `with`, the command in main(), and what it has said so far."""

    @contextmanager
    def started(*command, says=1, **options):
        process = subprocess.Popen([os.fspath(c) for c in command], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        # Nothing is waited for without end: a line that does not come is an empty one then.
        patience = threading.Timer(120, process.kill)
        patience.start()
        try:
            process.lines = [process.stdout.readline() for _ in range(says)]
            yield process
        finally:
            process.communicate()
            patience.cancel()

    return started


@pytest.fixture
def prefetched(started):
    """prefetched(path): how much of its front has been read when a program that was cold is in
    main(). `command` starts it in another way, `front` is another file whose front is looked at;
    of several `ranges` of addresses it is the smallest share."""

    def prefetched(made, command=None, front=None, ranges=None, **options):
        front = front or made
        parts = [[noted.front_offset(front.path, address) for address in range]
                 for range in ranges or [(front.loaded()[0][0], front.end)]]
        pagecache.make_cold(front.path)
        with started(*(command or [made.path]), **options) as process:
            share = min(noted.share_read(front.path, end, begin) for begin, end in parts)
        assert process.lines == ["errno 0, open 0 1 2\n"]
        assert process.returncode == 7
        return share

    return prefetched


@pytest.fixture
def calls(strace, run, tmp_path):
    """calls(program): the system calls of a run, one line each, from the prefetcher's first on,
    which looks at the auxiliary vector."""

    def calls(made, *options):
        log = tmp_path / "calls"
        run(strace, *options, "-o", log, made.path, code=7, stdin=subprocess.DEVNULL)
        lines = log.read_text().splitlines()
        first = [i for i, line in enumerate(lines)
                 if re.search("/proc/self/auxv|PR_GET_AUXV|0x41555856", line)]
        return lines[first[0]:] if first else []

    return calls
