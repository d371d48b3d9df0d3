"""A prefetch takes no more memory than the limits of its cgroups leave.

The limits are read from folders that look like the kernel's, in both versions, and once from a
cgroup of the machine.
"""

import os
import re
import shutil
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path

import noted
import pytest
from frontload.pagecache import cache as pagecache
from frontload.pagecache import mounts
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.reading import listing
from left_processes import wait_until_none

PROGRAMS = Path(__file__).parent / "programs"
NO_LIMIT = (1 << 64) - 1
MIB = 1 << 20
PREFIX = "frontload-prefetch."
ENOUGH = 1 << 40  # more than any cgroup here leaves
VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
VERSION_2 = ("memory.max", "memory.current", "inactive_file")


@pytest.fixture(scope="module")
def memory_left(tmp_path_factory):
    """memory_left(lines, mount, enough): what the prefetcher would say is left, for a process of
    which /proc/self/cgroup says these lines."""
    folder = tmp_path_factory.mktemp("memory_left")
    sources = Path(__file__).parents[2] / "instrument"
    program = folder / "program"
    subprocess.run(["gcc", "-O1", "-D_GNU_SOURCE", f"-I{sources}", "-fsanitize=undefined,address",
                    "-fno-sanitize-recover", PROGRAMS / "memory_left.c",
                    sources / "base/memory_limit.c", "-o", program], check=True)

    def memory_left(lines, mount, enough=ENOUGH):
        cgroups = folder / "cgroup"
        cgroups.write_text(lines)
        command = [program, cgroups, mount, str(enough)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return memory_left


def cgroup(folder, limit, used, unused=0, names=VERSION_2, **others):
    """Makes a folder that looks like a cgroup: its limit, its usage, and how much of that are file
    pages that were not used lately."""
    folder.mkdir(parents=True, exist_ok=True)
    of_limit, of_usage, line = names
    (folder / of_limit).write_text(f"{limit}\n")
    (folder / of_usage).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(
        f"anon 77\nactive_file 88\nworkingset_{line} 5\n{line} {unused}\nunevictable 99\n")
    for name, value in others.items():
        (folder / name.replace("_", ".")).write_text(f"{value}\n")


def test_version_2(memory_left, tmp_path):
    """What is not used is left, and file pages that were not used lately."""
    cgroup(tmp_path / "a", 1000, 300)
    assert memory_left("0::/a\n", tmp_path) == 700
    cgroup(tmp_path / "a", 1000, 900, unused=250)
    assert memory_left("0::/a\n", tmp_path) == 350
    cgroup(tmp_path / "a", 1000, 1100)
    assert memory_left("0::/a\n", tmp_path) == 0
    cgroup(tmp_path / "a", "max", 1100)
    assert memory_left("0::/a\n", tmp_path) == NO_LIMIT


def test_the_limit_that_slows_a_program_down_counts_too(memory_left, tmp_path):
    """memory.high, if it is the lower one."""
    cgroup(tmp_path / "a", 1000, 300, memory_high=500)
    assert memory_left("0::/a\n", tmp_path) == 200
    cgroup(tmp_path / "a", "max", 300, memory_high=500)
    assert memory_left("0::/a\n", tmp_path) == 200
    cgroup(tmp_path / "a", 400, 300, memory_high="max")
    assert memory_left("0::/a\n", tmp_path) == 100


def test_version_1(memory_left, tmp_path):
    """It has a hierarchy of its own for memory, which the lines name, alone or among others; with
    it, version 2 has no say."""
    cgroup(tmp_path / "memory/b", 1000, 900, unused=250, names=VERSION_1)
    cgroup(tmp_path / "a", 10, 0)
    for named in ("memory", "memory,cpu", "cpu,memory"):
        lines = f"12:pids:/x\n4:{named}:/b\n1:name=memory:/y\n2:memory_not:/z\n0::/a\n"
        assert memory_left(lines, tmp_path) == 350
    assert memory_left("0::/a\n4:memory:/b\n", tmp_path) == 350
    assert memory_left("4:xmemory:/b\n3:memoryx:/b\n0::/a\n", tmp_path) == 10


def test_version_1_without_a_limit(memory_left, tmp_path):
    """Its number is that of all pages that there could be."""
    cgroup(tmp_path / "memory/b", 9223372036854771712, 900, names=VERSION_1)
    assert memory_left("4:memory:/b\n", tmp_path) == NO_LIMIT


@pytest.mark.parametrize("tightest", ["", "a", "a/b", "a/b/c"])
def test_the_tightest_ancestor_counts(memory_left, tmp_path, tightest):
    """Each cgroup on the way has its own limit, or none."""
    for name in ("", "a", "a/b", "a/b/c"):
        cgroup(tmp_path / name, 1000, 300)
    cgroup(tmp_path / tightest, 500, 400)
    assert memory_left("0::/a/b/c\n", tmp_path) == 100


def test_in_a_container(memory_left, tmp_path):
    """The name may be that outside, where the mount has the container's own cgroup; or it begins
    above the mount."""
    cgroup(tmp_path, 1000, 300)
    for name in ("/", "/docker/0123456789", "/../../other", "/gone (deleted)"):
        assert memory_left(f"0::{name}\n", tmp_path) == 700
    cgroup(tmp_path / "memory", 1000, 200, names=VERSION_1)
    assert memory_left("3:memory:/docker/0123456789\n0::/\n", tmp_path) == 800


def test_what_is_enough_is_not_looked_at_closely(memory_left, tmp_path):
    """Pages that were not used lately do not matter then."""
    cgroup(tmp_path / "a", 1000, 600, unused=250)
    assert memory_left("0::/a\n", tmp_path, 400) == 400
    assert memory_left("0::/a\n", tmp_path, 401) == 650


def test_not_more_than_is_used_can_become_free(memory_left, tmp_path):
    """The figures are read one after the other, so they may not fit."""
    cgroup(tmp_path / "a", 1000, 900, unused=5000)
    assert memory_left("0::/a\n", tmp_path) == 1000


@pytest.mark.parametrize("lines", [
    "", "\n", ":", "0:", "0::", "0::a", "4:memory", "4:memory\n:/a\n", "4:,\n",
    "4:memory,x\n/limited\n", "x\n0::/none\n", "0::/" + "a/" * 3000, "0::" + "/" * 3000,
    "9" * 5000], ids=lambda lines: repr(lines)[:20])
def test_what_cannot_be_read_is_no_limit(memory_left, tmp_path, lines):
    """Nothing of the kind, cut lines, and paths that are too long."""
    assert memory_left(lines, tmp_path / "missing") == NO_LIMIT
    cgroup(tmp_path / "memory/limited", 10, 0, names=VERSION_1)
    (tmp_path / "memory.max").write_text("")
    (tmp_path / "memory.high").write_text("99999999999999999999999999\n")
    (tmp_path / "memory.current").write_text("5\n")
    assert memory_left(lines, tmp_path) == NO_LIMIT


def test_no_usage_is_no_limit(memory_left, tmp_path):
    """A limit alone says nothing of what is left."""
    cgroup(tmp_path / "a", 1000, "")
    assert memory_left("0::/a\n", tmp_path) == NO_LIMIT


@contextmanager
def limited(limit):
    """A cgroup of this machine with a limit of memory, below this process's own."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    mount = Path("/sys/fs/cgroup")
    for _, controllers, path in lines:
        if "memory" in controllers.split(","):
            parent, name = mount / "memory" / path[1:], "memory.limit_in_bytes"
            break
    else:
        parent, name = mount / lines[-1][2][1:], "memory.max"
    folder = parent / f"{PREFIX}{os.getpid()}"
    for stale in parent.glob(f"{PREFIX}*"):  # what a run left that was killed
        if not Path("/proc", stale.name.removeprefix(PREFIX)).exists():
            with suppress(OSError):
                stale.rmdir()
    try:
        folder.mkdir()
        try:
            (folder / name).write_text(str(limit))
        except BaseException:
            folder.rmdir()
            raise
    except OSError as problem:
        pytest.skip(f"needs a cgroup whose memory it may limit: {problem}")
    try:
        yield folder
    finally:
        for force in ("memory.force_empty", "memory.reclaim"):  # or its pages keep it, unseen
            with suppress(OSError):
                (folder / force).write_text(str(limit))
        folder.rmdir()


@pytest.mark.parametrize("limit, least, most", [(40 * MIB, 15 * MIB, 20 * MIB),
                                                (200 * MIB, noted.FRONT_SIZE, 1 << 62)],
                         ids=["near", "far"])
def test_in_a_cgroup(program, strace, run, build, tmp_path, limit, least, most):
    """Of a front of 32 MiB no more is asked for than half of what the cgroup has left, from the
    first range on, in whole pages."""
    made = program("-no-pie", copy=True)
    pagecache.make_cold(made.path)
    log = tmp_path / "calls"
    with limited(limit) as folder:
        said = run(build / "bin/frontload-exec", f"--cgroup={folder}", f"--output={tmp_path}/line",
                   "--", strace, "-f", "-e", "trace=readahead", "-o", log,
                   build / "bin/frontload-run", "--verbose", made.path, code=7,
                   stdin=subprocess.DEVNULL).stderr
    asked = [tuple(map(int, line.split("(")[1].split(")")[0].split(", ")[1:]))
             for line in log.read_text().splitlines() if "readahead(" in line]
    end = max(offset + size for offset, size in asked)
    assert least <= end <= most
    assert asked[0][0] == 0
    front = noted.front_offset(made.path, made.end)
    if end == front:
        assert f"{front / 1e6:.1f} MB are asked for" in said
    else:
        assert end % 4096 == 0
        assert f"{end / 1e6:.1f} of {front / 1e6:.1f} MB are asked for" in said
        assert "the cgroup's memory limit is near" in said


LISTED = 32 * MIB


def memory_is_short() -> bool:
    """Whether the kernel says so: a list asks for nothing then."""
    with suppress(OSError):
        return float(re.search(r"some avg10=([\d.]+)",
                               Path("/proc/pressure/memory").read_text())[1]) >= 10
    return False


@pytest.mark.parametrize("limit, least, most", [(40 * MIB, 15 * MIB, 20 * MIB),
                                                (200 * MIB, LISTED, LISTED)], ids=["near", "far"])
def test_a_list_in_a_cgroup(run, build, tmp_path, limit, least, most):
    """Of a reading list of 32 MiB no more is asked for, either, and how much that leaves is said.
    (It is asked for by a process that nobody waits for, in the same cgroup.)"""
    if mounts.file_system(tmp_path) in mounts.IN_MEMORY:
        pytest.skip(f"{tmp_path} is in memory: nothing there can be cold")
    file, of_start = tmp_path / "file", tmp_path / "app.files"
    file.write_bytes(os.urandom(LISTED))
    status = file.stat()
    of_start.write_bytes(listing.to_bytes(listing.ReadingList(1, {
        listing.File(str(file), status.st_size, status.st_mtime_ns): {
            page: listing.Touch(page, 1, listing.MAP) for page in range(LISTED // 4096)}})))
    pagecache.make_cold(file)
    launcher = shutil.copy(build / "bin/frontload-run", tmp_path)
    with limited(limit) as folder:
        said = run(build / "bin/frontload-exec", f"--cgroup={folder}", f"--output={tmp_path}/line",
                   "--", launcher, "--verbose", f"--files={of_start}", "true").stderr
        wait_until_none("exe", str(launcher))
    if memory_is_short():
        pytest.skip("this machine is short of memory")
    asked, over = (float(re.search(rf"([\d.]+) MB {words}", said)[1]) * 1e6
                   for words in ("of 1 files are asked for", "are too much"))
    assert least <= asked + 1e5 and asked - 1e5 <= most
    assert abs(asked + over - LISTED) < 1e5
    assert pagecache.settled(file).pages.sum() * PAGE_SIZE <= most + MIB
