"""The page cache of single files, on the real file system that the temporary folder is on."""

import mmap
import os
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from abilities import NOBODY, need, needs
from frontload.base.errors import Failure
from frontload.pagecache import cache as pagecache
from frontload.pagecache import kernel, mounts
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.pagecache.residency import Residency
from hypothesis import given
from hypothesis import strategies as st

pytestmark = needs("quiet-page-cache")
PAGES = 40
SIZE = PAGES * PAGE_SIZE + 100  # a last page that is not full
MAP_LOCKED = 0x2000


@pytest.fixture
def file(tmp_path) -> Path:
    """A file of 41 pages on a file system that has a store behind its page cache."""
    need("tmp-on-disk")
    path = tmp_path / "file"
    path.write_bytes(os.urandom(SIZE))
    return path


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def cached(monkeypatch, file):
    """cached(*counts): what the kernel tells of the pages in the cache, each time that it is asked,
    while the file is wholly resident."""
    def cached(*counts):
        pagecache.load(file)
        counts = iter(counts)
        monkeypatch.setattr(kernel, "cached_pages", lambda file: next(counts))

    return cached


def test_a_written_file_becomes_cold(file):
    """Also one whose pages are still dirty; a locked one does for as long as nothing locks it."""
    with closing(kernel.lock(file)):
        pagecache.drop(file)
        assert pagecache.residency(file).pages.all()
    pagecache.make_cold(file)
    assert pagecache.residency(file).resident_pages == 0


def test_the_page_that_was_read_is_seen(file):
    """Residency names exactly the page that a read without readahead has brought in."""
    pagecache.make_cold(file)
    with open(file, "rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(stream.fileno(), 1, 7 * PAGE_SIZE)
        with mmap.mmap(stream.fileno(), PAGE_SIZE, mmap.MAP_SHARED | MAP_LOCKED, mmap.PROT_READ,
                       offset=7 * PAGE_SIZE):  # or it might be reclaimed
            pagecache.settle(file)
            assert pagecache.residency(file).runs() == [(7, 1)]


def test_warming_is_tried_again(file, monkeypatch):
    """The kernel may reclaim what was just read; then all is there, to the file's last byte. Pages
    that do not stay at all are an error."""
    pagecache.make_cold(file)
    with monkeypatch.context() as patch, \
            pytest.raises(Failure, match=f"{PAGES + 1} pages did not stay"):
        patch.setattr(pagecache, "load", lambda path: None)
        pagecache.make_warm(file)
    load, loads = pagecache.load, []

    def load_for_a_moment(path):
        load(path)
        loads.append(path)
        if len(loads) < 3:
            pagecache.drop(path)

    monkeypatch.setattr(pagecache, "load", load_for_a_moment)
    pagecache.make_warm(file)
    seen = pagecache.residency(file)
    assert (len(loads), seen.resident_pages, seen.resident_bytes) == (3, PAGES + 1, SIZE)


def test_a_file_system_in_memory_is_refused():
    """What has no store but memory cannot be cold, and the error says so."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm", buffering=0) as file:
        file.write(bytes(SIZE))
        with pytest.raises(Failure, match=f"{PAGES + 1} of {PAGES + 1} pages stayed.*tmpfs keeps"):
            pagecache.make_cold(file.name)


def test_residency_of_somebody_elses_file_is_refused():
    """The kernel calls all pages resident for those who may not know: never believe that."""
    user = os.geteuid()
    if pagecache.may_look("/bin/sh"):
        need("another-user")
        os.seteuid(NOBODY)
    try:
        assert not pagecache.may_look("/bin/sh")
        with pytest.raises(Failure, match="cannot see which of its pages are resident"):
            pagecache.residency("/bin/sh")
    finally:
        os.seteuid(user)


def test_an_empty_file_has_no_pages():
    """A file of no bytes is neither an error nor resident."""
    with tempfile.NamedTemporaryFile() as file:
        pagecache.settle(file.name)
        assert pagecache.residency(file.name).resident_bytes == 0


@pytest.mark.parametrize(("counts", "waited"), [
    # Pages that are in the cache but not read yet belong to the run.
    ([PAGES + 33, PAGES + 5, PAGES + 1], None),
    # On blocks smaller than pages a page can be cached and not resident without being read.
    ([PAGES + 2] * 5000, pagecache._UNCHANGED_SECONDS),
    # An old kernel does not tell: longer than a throttle may wait.
    ([None], pagecache._QUIET_SECONDS)], ids=["read", "written in part", "untold"])
def test_reads_under_way_are_waited_for(file, cached, slept, counts, waited):
    cached(*counts)
    pagecache.settle(file, sleep=slept.append)
    assert sum(slept) == pytest.approx(waited) if waited else len(slept) == 2


def test_reads_that_never_end_are_an_error(file, cached, slept):
    """A file that somebody else keeps reading cannot be measured."""
    cached(*[PAGES + 2, PAGES + 3] * 5000)
    with pytest.raises(Failure, match="still being read"):
        pagecache.settle(file, sleep=slept.append)


def test_pages_that_are_being_read_are_dropped_when_they_can_be(file, cached, slept):
    """An eviction is repeated until no page is on its way into the cache."""
    cached(PAGES + 5, 3, 0)
    pagecache.make_cold(file, sleep=slept.append)
    assert len(slept) == 2


SMALL_BLOCKS = """
import sys
from pathlib import Path
from frontload.pagecache import cache as pagecache
file = Path(sys.argv[1], "file")
file.write_bytes(bytes(13 * 4096 + 300))  # its last page has blocks that were never written
pagecache.make_cold(file)
pagecache.make_warm(file)
pagecache.make_cold(file)
with open(file, "r+b") as stream:
    stream.write(b"x")  # the first page's other blocks are neither written nor read
pagecache.settle(file)
assert not pagecache.residency(file).pages.any()
pagecache.make_warm(file)
"""


@needs("loop-devices")
def test_blocks_smaller_than_pages(run, tmp_path):
    """A file that was written, wholly or in part, becomes cold and warm as any other does."""
    image, folder = tmp_path / "image", tmp_path / "mounted"
    folder.mkdir()
    image.touch()
    os.truncate(image, 16 << 20)
    run("unshare", "--mount", "--propagation=private", "sh", "-ec", """
        PATH=$PATH:/usr/sbin:/sbin
        mkfs.ext4 -q -b 1024 "$0"
        mount -o loop "$0" "$1"
        "$2" -c "$3" "$1" """, image, folder, sys.executable, SMALL_BLOCKS)


MOUNTS = rb"""24 1 254:0 / / rw - ext4 /dev/vda rw
25 24 7:0 / /a\040b rw shared:1 master:2 - xfs /dev/loop0 rw
26 24 7:0 / /a\040b/c rw - nfs4 server rw
27 26 7:0 / /a\040b/c rw - tmpfs none rw"""


@pytest.mark.parametrize("path, kind", [
    (b"/a b/file", "xfs"), (b"/a bc/file", "ext4"), (b"/a b/c/file", "tmpfs"), (b"/", "ext4")])
def test_file_systems_are_known_by_their_mount_point(path, kind):
    """The longest and last mount point above a path decides, not one that only begins alike."""
    assert mounts.mount_in(MOUNTS, path)[0] == kind


@given(st.lists(st.booleans(), max_size=200))
def test_runs_and_their_text_say_the_same(pages):
    """The text of a residency is read back to the same pages, and counts add up."""
    size = max(0, len(pages) * PAGE_SIZE - 1)
    seen = Residency(size, np.array(pages, dtype=bool))
    assert Residency.from_text(size, seen.to_text()).pages.tolist() == pages
    assert sum(pages for _, pages in seen.runs()) == seen.resident_pages
    assert seen.resident_bytes == seen.resident_pages * PAGE_SIZE - any(pages[-1:])
