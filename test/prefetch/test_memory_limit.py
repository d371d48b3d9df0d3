"""A prefetch takes no more memory than the limits of its cgroups leave.

The limits are read from folders that look like the kernel's, in both versions."""

import os
import subprocess

import noted
import pytest
from abilities import needs
from compiled import compile_to
from frontload.pagecache import cache as pagecache
from frontload.reading import listing
from noted import INSTRUMENT, MIB, PROGRAMS, front_offset

NO_LIMIT = (1 << 64) - 1
ENOUGH = 1 << 40  # more than any cgroup here leaves
VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
VERSION_2 = ("memory.max", "memory.current", "inactive_file")


@pytest.fixture(scope="module")
def memory_left(tmp_path_factory):
    """memory_left(lines, mount, enough): what the prefetcher would say is left, for a process of
    which /proc/self/cgroup says these lines."""
    folder = tmp_path_factory.mktemp("memory_left")
    program = compile_to(folder / "program", "gcc", "-O1", "-D_GNU_SOURCE", f"-I{INSTRUMENT}",
                         "-fsanitize=undefined,address", "-fno-sanitize-recover", "program.c",
                         INSTRUMENT / "base/memory_limit.c",
                         sources={"program.c": PROGRAMS / "memory_left.c"})

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


@pytest.mark.parametrize(("figures", "enough", "left"), [
    # What is not used is left, and file pages that were not used lately.
    ({"limit": 1000, "used": 300}, ENOUGH, 700),
    ({"limit": 1000, "used": 900, "unused": 250}, ENOUGH, 350),
    ({"limit": 1000, "used": 1100}, ENOUGH, 0), ({"limit": "max", "used": 1100}, ENOUGH, NO_LIMIT),
    # The limit that slows a program down, if it is the lower one.
    ({"limit": 1000, "used": 300, "memory_high": 500}, ENOUGH, 200),
    # Pages that were not used lately are not looked at where the rest is enough.
    ({"limit": 1000, "used": 600, "unused": 250}, 400, 400),
    ({"limit": 1000, "used": 600, "unused": 250}, 401, 650),
    # The figures are read one after the other, so they may not fit.
    ({"limit": 1000, "used": 900, "unused": 5000}, ENOUGH, 1000),
    # A limit alone says nothing of what is left.
    ({"limit": 1000, "used": ""}, ENOUGH, NO_LIMIT)], ids=str)
def test_version_2(memory_left, tmp_path, figures, enough, left):
    cgroup(tmp_path / "a", **figures)
    assert memory_left("0::/a\n", tmp_path, enough) == left


def test_version_1(memory_left, tmp_path):
    """Its own hierarchy, named alone or among others; with it, version 2 has no say."""
    cgroup(tmp_path / "memory/b", 1000, 900, unused=250, names=VERSION_1)
    cgroup(tmp_path / "a", 10, 0)
    for named in ("memory", "memory,cpu", "cpu,memory"):
        lines = f"12:pids:/x\n4:{named}:/b\n1:name=memory:/y\n2:memory_not:/z\n0::/a\n"
        assert memory_left(lines, tmp_path) == 350
    assert memory_left("0::/a\n4:memory:/b\n", tmp_path) == 350
    assert memory_left("4:xmemory:/b\n3:memoryx:/b\n0::/a\n", tmp_path) == 10
    # Without a limit, its number is that of all pages that there could be.
    cgroup(tmp_path / "memory/b", 9223372036854771712, 900, names=VERSION_1)
    assert memory_left("4:memory:/b\n", tmp_path) == NO_LIMIT


@pytest.mark.parametrize("tightest", ["", "a/b", "a/b/c"])
def test_the_tightest_ancestor_counts(memory_left, tmp_path, tightest):
    """Each cgroup on the way has its own limit, or none."""
    for name in ("", "a", "a/b", "a/b/c"):
        cgroup(tmp_path / name, 1000, 300)
    cgroup(tmp_path / tightest, 500, 400)
    assert memory_left("0::/a/b/c\n", tmp_path) == 100


def test_in_a_container(memory_left, tmp_path):
    """The mount may have the container's own cgroup; a name may begin above the mount."""
    cgroup(tmp_path, 1000, 300)
    for name in ("/", "/docker/0123456789", "/../../other", "/gone (deleted)"):
        assert memory_left(f"0::{name}\n", tmp_path) == 700
    cgroup(tmp_path / "memory", 1000, 200, names=VERSION_1)
    assert memory_left("3:memory:/docker/0123456789\n0::/\n", tmp_path) == 800


@pytest.mark.parametrize("lines", [
    "", "0::", "0::a", "4:memory\n:/a\n", "4:,\n", "4:memory,x\n/limited\n", "x\n0::/none\n",
    "0::/" + "a/" * 3000, "9" * 5000], ids=lambda lines: repr(lines)[:20])
def test_what_cannot_be_read_is_no_limit(memory_left, tmp_path, lines):
    """Nothing of the kind, cut lines, and paths that are too long."""
    assert memory_left(lines, tmp_path / "missing") == NO_LIMIT
    cgroup(tmp_path / "memory/limited", 10, 0, names=VERSION_1)
    (tmp_path / "memory.max").write_text("")
    (tmp_path / "memory.high").write_text("99999999999999999999999999\n")
    (tmp_path / "memory.current").write_text("5\n")
    assert memory_left(lines, tmp_path) == NO_LIMIT


@pytest.fixture
def limited(tmp_path):
    """limited(limit): a prefix of commands for which a cgroup has so much left, and no process had
    to wait for memory."""
    def limited(limit):
        folder = tmp_path / "cgroup"
        cgroup(folder, limit, 0)
        cgroup(folder / "memory", limit, 0, names=VERSION_1)
        script = f"""
            mount --bind '{folder}' /sys/fs/cgroup
            [ ! -e /proc/pressure/memory ] || mount --bind /dev/null /proc/pressure/memory
            exec "$@" """
        return ["unshare", "--mount", "--propagation=private", "sh", "-ec", script, "sh"]

    return limited


@needs("mounts")
@pytest.mark.parametrize("limit", [8 * MIB, 200 * MIB], ids=["near", "far"])
def test_in_a_cgroup(program, asked, calls, build, limited, limit):
    """Half of what it has left is asked for, from the first range on, in whole pages."""
    made = program("-no-pie")
    expected = min(limit // 2, front_offset(made.path, made.end))
    assert asked(made, *limited(limit), build / "bin/frontload-run", "--verbose",
                 made.path) == noted.pieces(0, expected)
    whole = front_offset(made.path, made.end) / 1e6
    said = (f"{expected / 1e6:.1f} of {whole:.1f} MB are asked for: the cgroup's memory limit is "
            "near" if limit == 8 * MIB else f"{whole:.1f} MB are asked for\n")
    assert said in calls.result.stderr


@needs("mounts", "tmp-on-disk")
def test_a_list_in_a_cgroup(asked, calls, build, tmp_path, limited):
    """The same of a prefetch list; how much that leaves is said."""
    file, of_start, size, most = tmp_path / "file", tmp_path / "app.files", 10 * MIB, 4 * MIB
    file.write_bytes(os.urandom(size))
    status = file.stat()
    of_start.write_bytes(listing.to_bytes(listing.PrefetchList(1, {
        listing.File(str(file), status.st_size, status.st_mtime_ns): {
            page: listing.Touch(page, 1, listing.MAP) for page in range(size // noted.PAGE)}})))
    pagecache.make_cold(file)
    assert asked(file, *limited(2 * most), build / "bin/frontload-run", "--verbose",
                 f"--files={of_start}", "true", code=0) == noted.pieces(0, most)
    said = calls.result.stderr
    assert f"{most / 1e6:.1f} MB of 1 files are asked for, 0.0 MB are in memory already" in said
    assert f" {(size - most) / 1e6:.1f} MB are too much" in said
