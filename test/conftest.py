"""What all pytest tests share: where the build is, and how programs are compiled and run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from places import BUILD, LLVM, ROOT

# Links to the cargo, rustc and go that scripts/setup chose, where those in PATH do not run.
_TOOLCHAIN = ROOT / "build" / "toolchain" / "bin"
os.environ["PATH"] = f"{_TOOLCHAIN}:{os.environ['PATH']}"

ALL_SKIPPED = 77  # what ctest takes for a test that did not run (test/CMakeLists.txt)


def pytest_configure(config) -> None:
    config.addinivalue_line(
        "markers", "alone: disturbs whatever else runs on the machine; ctest runs it by itself")


def pytest_sessionfinish(session, exitstatus) -> None:
    """A file all of whose tests were skipped, one by one or as a whole, neither passed nor failed.
    Its reasons are said as ever."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    told = {outcome for outcome, reports in reporter.stats.items() if outcome and reports}
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and (
            "skipped" in told and not told & {"passed", "xfailed", "xpassed"}):
        session.exitstatus = ALL_SKIPPED


@pytest.fixture(scope="session")
def build() -> Path:
    """The build folder: programs in bin/, libraries in lib/."""
    return BUILD


@pytest.fixture(scope="session")
def llvm() -> Path:
    """The folder of LLVM's programs: clang, ld.lld, llvm-readobj, yaml2obj."""
    return LLVM


@pytest.fixture
def run():
    """run(program, *args, code=0, **kw): runs it, checks its exit code, returns the result."""

    def run(*command, code=0, **options):
        options = {"capture_output": True, "text": True, "timeout": 120, **options}
        result = subprocess.run([os.fspath(c) for c in command], **options)
        assert code is None or result.returncode == code, (
            f"{command}: exit {result.returncode}, expected {code}\n{result.stdout}{result.stderr}")
        return result

    return run


@pytest.fixture
def strace() -> str:
    """Skips a test where strace is missing or may not trace."""
    tool = shutil.which("strace")
    if tool is None or subprocess.run([tool, "true"], capture_output=True).returncode:
        pytest.skip("needs strace, and the permission to trace")
    return tool


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
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def quota(run, tmp_path):
    """quota(kilobytes, full=False): a folder whose files together may have so much, or have it
    already. It is a file system of its own, of the kind that has quotas in most kernels."""
    mounted = []

    def quota(kilobytes, full=False):
        if os.geteuid():
            pytest.skip("needs root, to mount a file system")
        if not shutil.which("mkfs.btrfs"):
            pytest.skip("btrfs-progs is not installed")
        folder = tmp_path / f"quota{len(mounted)}"
        image = folder.with_suffix(".img")
        folder.mkdir()
        with open(image, "wb") as file:
            file.truncate(128 << 20)
        run("mkfs.btrfs", "-q", "-n", "4096", image)
        done = run("mount", "-o", "loop", image, folder, code=None)
        if done.returncode:
            pytest.skip(f"cannot mount btrfs: {done.stderr.strip()}")
        mounted.append(folder)
        run("btrfs", "quota", "enable", folder)
        run("btrfs", "qgroup", "limit", f"{kilobytes}k", folder)
        if full:
            with pytest.raises(OSError), open(folder / "zeros", "wb", buffering=0) as zeros:
                while True:
                    zeros.write(bytes(1024))
        return folder

    yield quota
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def frontload(run):
    """frontload(*args, code=0): runs the frontload command from the build tree."""

    def frontload(*args, **options):
        return run(BUILD / "bin" / "frontload", *args, **options)

    return frontload
