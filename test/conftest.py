"""What all pytest tests share: where the build is, how programs are compiled and run, and what
becomes of tests that need something of the machine (abilities.py) or are slow.

One session runs them all, in several processes: a file's tests run in one of them, in their order,
unless the file says that its tests may be spread (`pytestmark = pytest.mark.spread`).
"""

import collections
import functools
import itertools
import json
import os
import shutil
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path

import abilities
import pytest
from hypothesis import settings
from places import ALL, BUILD, CACHE, LLVM, ROOT, prepare_environment
from xdist.scheduler import LoadScopeScheduling

prepare_environment()
# The same examples in every run, however slow the machine, and nothing kept in the working folder:
# some here, many with `scripts/test --all`.
settings.register_profile("some", derandomize=True, deadline=None, database=None, max_examples=25)
settings.register_profile("all", settings.get_profile("some"), max_examples=500)
settings.load_profile("all" if ALL else "some")

_SECONDS = CACHE / "seconds.json"


def pytest_configure(config) -> None:
    for line in ("slow: runs with scripts/test --all only",
                 "needs(*abilities): skipped on machines without these (test/abilities.py)",
                 "spread: the tests of this file may run in several processes"):
        config.addinivalue_line("markers", line)


class ByFile(LoadScopeScheduling):
    """Hands files to processes, one at a time; of some, single tests."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if _is_spread(file) else file


@functools.cache
def _is_spread(file: str) -> bool:
    return "pytest.mark.spread" in (ROOT / file).read_text()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)


def _seconds() -> dict[str, float]:
    """How long each file took when it last ran."""
    return json.loads(_SECONDS.read_text()) if _SECONDS.exists() else {}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """All processes have to have the tests in one order."""
    node.workerinput["seconds"] = _seconds()


def pytest_collection_modifyitems(config, items) -> None:
    """Files that took longest begin, so that no process has a long one left at the end."""
    took = config.workerinput["seconds"] if hasattr(config, "workerinput") else _seconds()
    items.sort(key=lambda item: -took.get(item.location[0], 0))
    if not ALL:
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_terminal_summary(terminalreporter, config) -> None:
    """Keeps how long each file took."""
    if hasattr(config, "workerinput"):
        return
    now: dict[str, float] = collections.Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                now[report.location[0]] += report.duration
    CACHE.mkdir(parents=True, exist_ok=True)
    written = _SECONDS.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps(_seconds() | now))
    written.rename(_SECONDS)  # whole, for a session that begins now


def _needs(item) -> list[str]:
    return [name for mark in item.iter_markers("needs") for name in mark.args]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """A test waits for what another has now before its time begins to count."""
    with abilities.held(_needs(item)):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item) -> None:
    abilities.need(*_needs(item))


@pytest.fixture(scope="session")
def build() -> Path:
    """The build folder: programs in bin/, libraries in lib/."""
    return BUILD


@pytest.fixture(scope="session")
def preloadable(tmp_path_factory):
    """preloadable(path): a library of the build in a folder that LD_PRELOAD can name, in which a
    space or colon ends a path."""
    return lambda path: Path(shutil.copy(path, tmp_path_factory.mktemp("preloaded")))


@pytest.fixture(scope="session")
def llvm() -> Path:
    """The folder of LLVM's programs: clang, ld.lld, llvm-readobj, yaml2obj."""
    return LLVM


@pytest.fixture
def run():
    """run(program, *args, code=0, **kw): runs it, checks its exit code, returns the result."""

    def run(*command, code=0, **options):
        options = {"capture_output": True, "text": True, **options}
        result = subprocess.run([os.fspath(c) for c in command], **options)
        assert code is None or result.returncode == code, (
            f"{command}: exit {result.returncode}, expected {code}\n{result.stdout}{result.stderr}")
        return result

    return run


@pytest.fixture
def strace() -> str:
    """Skips a test where strace is missing or may not trace."""
    abilities.need("strace")
    return "strace"


@pytest.fixture
def spawn():
    """spawn(*command, **options): a process with piped output, which does not outlive its test."""
    processes = []

    def spawn(*command, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        processes.append(subprocess.Popen([os.fspath(c) for c in command], **options))
        return processes[-1]

    yield spawn
    for process in processes:
        process.kill()  # nothing, where it has ended
        process.wait()
        for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
            with suppress(OSError):  # what was never written finds nobody to read it
                pipe.close()


@pytest.fixture
def tmpfs(run, tmp_path):
    """tmpfs(options, name="tmpfs"): a new folder with a file system in memory, until the test
    ends."""
    with ExitStack() as stack:
        def tmpfs(options, name="tmpfs"):
            abilities.need("mounts")
            folder = tmp_path / name
            folder.mkdir()
            run("mount", "-t", "tmpfs", "-o", options, "none", folder)
            stack.callback(run, "umount", "-l", folder)
            return folder

        yield tmpfs


@pytest.fixture
def quota(run, tmp_path):
    """quota(kilobytes, full=False): a folder whose files together may have this size, or have it
    already."""
    numbers = itertools.count()
    with ExitStack() as stack:
        def quota(kilobytes, full=False):
            abilities.need("btrfs")
            folder = tmp_path / f"quota{next(numbers)}"
            stack.enter_context(abilities.held(["loop-devices"]))
            stack.enter_context(abilities.btrfs(folder))
            run("btrfs", "quota", "enable", folder)
            run("btrfs", "qgroup", "limit", f"{kilobytes}k", folder)
            if full:
                with pytest.raises(OSError), open(folder / "zeros", "wb", buffering=0) as zeros:
                    while True:
                        zeros.write(bytes(1024))
            return folder

        yield quota


@pytest.fixture
def frontload(run):
    """frontload(*args, code=0): runs the frontload command from the build tree."""

    def frontload(*args, **options):
        return run(BUILD / "bin" / "frontload", *args, **options)

    return frontload
