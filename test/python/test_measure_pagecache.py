"""The page cache of single files, on the real file system that the temporary folder is on."""

import itertools
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from frontload.base.errors import Failure
from frontload.device import cold_device
from frontload.pagecache import cache as pagecache
from frontload.pagecache import kernel, mounts
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.pagecache.residency import Residency
from hypothesis import given
from hypothesis import strategies as st

PAGES = 40
SIZE = PAGES * PAGE_SIZE + 100  # a last page that is not full
NOBODY = 65534


@pytest.fixture
def file(tmp_path) -> Path:
    """A file of 41 pages on a file system that has a store behind its page cache."""
    if mounts.file_system(tmp_path) in mounts.IN_MEMORY:
        pytest.skip(f"{tmp_path} is on a file system in memory, from which nothing can be evicted")
    path = tmp_path / "file"
    path.write_bytes(os.urandom(SIZE))
    return path


def test_a_written_file_becomes_cold(file):
    """Eviction also works on a file whose pages are still dirty, and empties it."""
    pagecache.make_cold(file)
    assert pagecache.residency(file).resident_pages == 0


def test_the_page_that_was_read_is_seen(file):
    """Residency names exactly the page that a read without readahead has brought in."""
    pagecache.make_cold(file)
    with open(file, "rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(stream.fileno(), 1, 7 * PAGE_SIZE)
    assert pagecache.settled(file).runs().tolist() == [[7, 1]]


def test_a_warm_file_is_wholly_resident(file):
    """Warming brings in every page; the bytes end where the file ends, not where its page does."""
    pagecache.make_cold(file)
    pagecache.make_warm(file)
    seen = pagecache.residency(file)
    assert (seen.resident_pages, seen.resident_bytes) == (PAGES + 1, SIZE)


def test_warming_that_does_not_last_is_refused(file, monkeypatch):
    """If pages are gone after the file was read, that is an error and not a warm run."""
    pagecache.make_cold(file)
    monkeypatch.setattr(pagecache, "load", lambda path: None)
    with pytest.raises(Failure, match=f"{PAGES + 1} pages did not stay"):
        pagecache.make_warm(file)


def test_warming_is_tried_again(file, monkeypatch):
    """A kernel that reclaims what was just read does not spoil a measurement at once."""
    pagecache.make_cold(file)
    load, loads = pagecache.load, []

    def load_for_a_moment(path):
        load(path)
        loads.append(path)
        if len(loads) < 3:
            pagecache.drop(path)

    monkeypatch.setattr(pagecache, "load", load_for_a_moment)
    pagecache.make_warm(file)
    assert len(loads) == 3


def test_mapped_pages_are_refused_by_name(file):
    """A file that a process maps cannot be evicted: the error says how many pages, and who."""
    with open(file, "rb") as stream, \
            mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as mapping:
        assert mapping[0] is not None  # maps a page
        with pytest.raises(Failure) as refusal:
            pagecache.make_cold(file)
    stayed, total = map(int, (refusal.value.message.split()[1], refusal.value.message.split()[3]))
    assert 0 < stayed <= total == PAGES + 1
    assert "mapped by " in refusal.value.message
    assert f"({os.getpid()})" in refusal.value.message
    assert "--allow-warm" in refusal.value.note


def test_a_file_system_in_memory_is_refused():
    """What has no store but memory cannot be cold, and the error says so."""
    folder = Path("/dev/shm")
    if not os.access(folder, os.W_OK) or mounts.file_system(folder) != "tmpfs":
        pytest.skip("/dev/shm is no tmpfs that can be written here")
    path = folder / f"frontload-test.{os.getpid()}"
    path.write_bytes(bytes(SIZE))
    try:
        with pytest.raises(Failure, match=f"{PAGES + 1} of {PAGES + 1} pages stayed.*tmpfs keeps"):
            pagecache.make_cold(path)
    finally:
        path.unlink()


def test_residency_of_somebody_elses_file_is_refused(file):
    """The kernel calls all pages resident for those who may not know: never believe that."""
    if os.geteuid():
        path = "/bin/sh"
        assert not pagecache.may_look(path)
        with pytest.raises(Failure, match="cannot see which of its pages are resident"):
            pagecache.residency(path)
        return
    file.chmod(0o644)
    pagecache.make_cold(file)
    with open(file, "rb") as stream:  # as root: the folders above may be closed to others
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                assert kernel.resident(stream, SIZE) == b"\1" * (PAGES + 1)
                with pytest.raises(Failure, match="cannot see which of its pages are resident"):
                    pagecache.residency(f"/dev/fd/{stream.fileno()}")
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pagecache.residency(file).resident_pages == 0


def test_a_locked_file_stays(file):
    """A locked file survives an eviction for as long as its mapping is open, and not longer."""
    mapping = kernel.lock(file)
    try:
        pagecache.drop(file)
        assert pagecache.residency(file).pages.all()
    finally:
        mapping.close()
    pagecache.make_cold(file)


def test_an_empty_file_has_no_pages(tmp_path):
    """A file of no bytes is neither an error nor resident."""
    path = tmp_path / "empty"
    path.touch()
    seen = pagecache.settled(path, sleep=lambda seconds: None)
    assert (seen.size, seen.resident_pages, seen.resident_bytes, len(seen.runs())) == (0, 0, 0, 0)


def test_reads_under_way_are_waited_for(file, monkeypatch):
    """Pages that are in the cache but not read yet belong to the run: residency waits for them."""
    pagecache.load(file)
    cached = iter([PAGES + 33, PAGES + 5, PAGES + 1])
    monkeypatch.setattr(kernel, "cached_pages", lambda file: next(cached, PAGES + 1))
    slept = []
    assert pagecache.settled(file, sleep=slept.append).resident_pages == PAGES + 1
    assert len(slept) == 2


def test_reads_that_never_end_are_an_error(file, monkeypatch):
    """A file that somebody else keeps reading cannot be measured."""
    pagecache.load(file)
    more = itertools.cycle([PAGES + 2, PAGES + 3])
    monkeypatch.setattr(kernel, "cached_pages", lambda file: next(more))
    with pytest.raises(Failure, match="still being read"):
        pagecache.settled(file, sleep=lambda seconds: None)


def test_a_page_that_was_written_in_part_is_waited_for_but_not_forever(file, monkeypatch):
    """On blocks smaller than pages a page can be cached and not resident without being read."""
    pagecache.load(file)
    monkeypatch.setattr(kernel, "cached_pages", lambda file: PAGES + 2)
    slept = []
    assert pagecache.settled(file, sleep=slept.append).resident_pages == PAGES + 1
    assert sum(slept) == pytest.approx(pagecache._UNCHANGED_SECONDS)


def test_pages_that_are_being_read_are_dropped_when_they_can_be(file, monkeypatch):
    """An eviction is repeated until no page is on its way into the cache."""
    real, dropped = pagecache.drop, []
    cached = iter([PAGES + 5, 3])
    monkeypatch.setattr(pagecache, "drop", lambda path: (real(path), dropped.append(path)))
    monkeypatch.setattr(kernel, "cached_pages", lambda file: next(cached, 0))
    slept = []
    pagecache.make_cold(file, sleep=slept.append)
    assert len(dropped) == 3 and len(slept) == 2


SMALL_BLOCKS = """
import sys
from pathlib import Path
from frontload.pagecache import cache as pagecache
folder = Path(sys.argv[1])
for size in (100, 5000, 13 * 4096 + 3000):
    file = folder / f"file.{size}"
    file.write_bytes(bytes(size))  # its last page has blocks that were never written
    pagecache.make_cold(file)
    pagecache.make_warm(file)
pagecache.make_cold(file)
with open(file, "r+b") as stream:
    stream.write(b"x")  # the first page's other blocks are neither written nor read
assert not pagecache.settled(file).pages.any()
pagecache.make_warm(file)
"""


def test_blocks_smaller_than_pages(tmp_path):
    """A file that was written, wholly or in part, becomes cold and warm as any other does."""
    if obstacle := cold_device.obstacle():
        pytest.skip(obstacle)
    image, folder = tmp_path / "image", tmp_path / "mounted"
    folder.mkdir()
    with open(image, "wb") as stream:
        stream.truncate(16 << 20)
    result = subprocess.run(
        ["unshare", "--mount", "sh", "-e", "-c", """
         PATH=$PATH:/usr/sbin:/sbin
         mount --make-rprivate /
         mkfs.ext4 -q -b 1024 "$0"
         mount -o loop "$0" "$1" || { echo no mount >&2; exit 0; }
         "$2" -c "$3" "$1" """, image, folder, sys.executable, SMALL_BLOCKS],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    if "no mount" in result.stderr:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result.stderr


def test_an_old_kernel_is_given_time(file, monkeypatch):
    """A kernel that does not tell of reads under way is given longer than a throttle may wait."""
    monkeypatch.setattr(kernel, "cached_pages", lambda file: None)
    slept = []
    pagecache.settled(file, sleep=slept.append)
    assert slept == [pagecache._QUIET_SECONDS]


MOUNTS = rb"""24 1 254:0 / / rw - ext4 /dev/vda rw
25 24 7:0 / /a\040b rw shared:1 master:2 - xfs /dev/loop0 rw
26 24 7:0 / /a\040b/c rw - nfs4 server rw
27 26 7:0 / /a\040b/c rw - tmpfs none rw"""


@pytest.mark.parametrize("path, kind", [
    (b"/a b/file", "xfs"), (b"/a bc/file", "ext4"), (b"/a b/c/file", "tmpfs"), (b"/", "ext4")])
def test_file_systems_are_known_by_their_mount_point(path, kind):
    """The longest and last mount point above a path decides, not one that only begins alike."""
    assert mounts.mount_in(MOUNTS, path)[0] == kind


def test_the_file_system_of_a_real_file():
    """The running kernel's table of mounts can be read."""
    assert mounts.file_system("/proc/self/status") == "proc"


@given(st.lists(st.booleans(), max_size=200))
def test_runs_and_their_text_say_the_same(pages):
    """The text of a residency is read back to the same pages, and counts add up."""
    size = max(0, len(pages) * PAGE_SIZE - 1)
    seen = Residency(size, np.array(pages, dtype=bool))
    again = Residency.from_text(size, seen.to_text())
    assert again.pages.tolist() == pages
    assert int(seen.runs()[:, 1].sum()) == seen.resident_pages
    last = bool(pages and pages[-1])
    assert seen.resident_bytes == seen.resident_pages * PAGE_SIZE - last


def test_bytes_before_an_offset():
    """Bytes are counted within pages too, so that sections that share a page are told apart."""
    seen = Residency(3 * PAGE_SIZE, np.array([True, False, True]))
    offsets = [0, 10, PAGE_SIZE, PAGE_SIZE + 5, 2 * PAGE_SIZE + 7, 9 * PAGE_SIZE]
    assert seen.bytes_before(np.array(offsets)).tolist() == [
        0, 10, PAGE_SIZE, PAGE_SIZE, PAGE_SIZE + 7, 2 * PAGE_SIZE]
    assert Residency(5, np.array([True])).bytes_before(np.array([4, 5, 6])).tolist() == [4, 5, 5]
