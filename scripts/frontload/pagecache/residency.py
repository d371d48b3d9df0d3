"""The kernel's page cache, file by file: what of a file is in it, and how to empty or fill it.

A cold start is only cold if the file's pages are gone, and the kernel promises nothing: it keeps
pages that are dirty, mapped by a process, being read, or that live on a file system in memory. So
every eviction here is followed by a look (mincore), and by a refusal if anything stayed.

resident  a page that is in the page cache and up to date
run       a range of consecutive resident pages; a start that reads in order leaves few of them
"""

import ctypes
import mmap
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from frontload.base.errors import Failure
from frontload.base.files import read_text

PAGE_SIZE = mmap.PAGESIZE
IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}

_libc = ctypes.CDLL(None, use_errno=True)
_SYS_CACHESTAT = 451  # the same number on every architecture
_CAP_FOWNER = 3
_DROP_CACHES = "/proc/sys/vm/drop_caches"

# Reads that a process started go on after it has exited, and a throttled device takes its time.
_SETTLE_SECONDS = 30.0
_POLL_SECONDS = 0.01
# A page can be in the cache and never become resident: of one that was written in part, on a file
# system of blocks smaller than pages, the other blocks are not read. What does not change for this
# long is such a page; a page that is being read is held back by no device for half of that.
_UNCHANGED_SECONDS = 2.0
# Without cachestat (before Linux 6.5) nothing tells whether pages are still being read. The block
# layer holds a throttled request back for at most one slice of 100 ms.
_QUIET_SECONDS = 0.12
# What was read is soon reclaimed by some kernels, memory free or not (see lock).
_LOADS = 5


@dataclass(frozen=True)
class Residency:
    """Which pages of one file of `size` bytes are resident: a boolean per page."""

    size: int
    pages: np.ndarray

    @property
    def resident_pages(self) -> int:
        return int(np.count_nonzero(self.pages))

    @property
    def resident_bytes(self) -> int:
        return int(self.bytes_before(np.array([self.size]))[0])

    def bytes_before(self, offsets: np.ndarray) -> np.ndarray:
        """How many resident bytes lie before each file offset."""
        whole = np.concatenate([[0], np.cumsum(self.pages, dtype=np.int64)]) * PAGE_SIZE
        offsets = np.minimum(offsets, self.size)
        page = offsets // PAGE_SIZE
        partly = np.append(self.pages, False)[page] * (offsets % PAGE_SIZE)
        return whole[page] + partly

    def runs(self) -> np.ndarray:
        """The runs as rows of (first page, number of pages)."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.pages.astype(np.int8), [0]])))
        first, end = edges[0::2], edges[1::2]
        return np.column_stack([first, end - first])

    def to_text(self) -> str:
        """The runs as text, `first+pages` separated by spaces: the form used in JSON."""
        return " ".join(f"{first}+{pages}" for first, pages in self.runs())

    @classmethod
    def from_text(cls, size: int, text: str) -> "Residency":
        pages = np.zeros(-(-size // PAGE_SIZE), dtype=bool)
        for run in text.split():
            first, count = map(int, run.split("+"))
            pages[first:first + count] = True
        return cls(size, pages)


def may_look(path: os.PathLike | str) -> bool:
    """Whether the kernel tells us the residency of a file.

    Since Linux 5.2 only its owner and those who may write it are told; for everybody else mincore
    says, without an error, that every page is resident.
    """
    if os.stat(path).st_uid == os.geteuid() or os.access(path, os.W_OK, effective_ids=True):
        return True
    capabilities = next(line for line in read_text("/proc/self/status").splitlines()
                        if line.startswith("CapEff:"))
    return bool(int(capabilities.split()[1], 16) >> _CAP_FOWNER & 1)


def residency(path: os.PathLike | str) -> Residency:
    """Which pages of a file are in the page cache; fails where the kernel would not tell."""
    if not may_look(path):
        raise Failure(f"{os.fspath(path)}: its residency cannot be seen: the kernel tells it only "
                      "to those who own the file or may write it",
                      note="measure as the file's owner or as root, or measure a copy of the file")
    with open(path, "rb") as file:
        return _look(file.fileno())


def _look(descriptor: int) -> Residency:
    size = os.fstat(descriptor).st_size
    states = np.zeros(-(-size // PAGE_SIZE), dtype=np.uint8)
    if size:
        with mmap.mmap(descriptor, size, prot=mmap.PROT_READ) as mapping:
            start = np.frombuffer(mapping, dtype=np.uint8)
            failed = _libc.mincore(ctypes.c_void_p(start.ctypes.data), ctypes.c_size_t(size),
                                   ctypes.c_void_p(states.ctypes.data))
            error = ctypes.get_errno()
            del start  # the mapping cannot be closed while an array uses it
        if failed:
            raise OSError(error, os.strerror(error), "mincore")
    return Residency(size, (states & 1).astype(bool))


def _cached_pages(descriptor: int) -> int | None:
    """How many pages are in the cache or on their way there; None if the kernel cannot say."""
    size = os.fstat(descriptor).st_size
    extent = (ctypes.c_uint64 * 2)(0, size)
    counts = (ctypes.c_uint64 * 5)()  # cached, dirty, in writeback, evicted, recently evicted
    if size == 0:
        return 0  # to the kernel, 0 bytes are all that follow
    if _libc.syscall(_SYS_CACHESTAT, descriptor, extent, counts, 0):
        return None
    return counts[0]


def settle(*paths: os.PathLike | str, sleep=time.sleep) -> None:
    """Waits until all reads of the files that are under way have ended."""
    untold = False
    for path in paths:
        with open(path, "rb") as file:
            untold = not _wait_for_reads(path, file.fileno(), sleep) or untold
    if untold:
        sleep(_QUIET_SECONDS)


def _wait_for_reads(path: os.PathLike | str, descriptor: int, sleep) -> bool:
    """Whether the kernel could tell that there are no reads under way."""
    last, unchanged = None, 0
    for _ in range(round(_SETTLE_SECONDS / _POLL_SECONDS)):
        cached = _cached_pages(descriptor)
        if cached is None:
            return False
        resident = _look(descriptor).resident_pages
        unchanged = unchanged + 1 if last == (cached, resident) else 0
        if cached == resident or unchanged * _POLL_SECONDS >= _UNCHANGED_SECONDS:
            return True
        last = cached, resident
        sleep(_POLL_SECONDS)
    raise _still_read(path)


def _still_read(path: os.PathLike | str) -> Failure:
    return Failure(f"{os.fspath(path)}: is still being read after {_SETTLE_SECONDS:g} seconds",
                   note="end the processes that read it, and measure again")


def settled(path: os.PathLike | str, sleep=time.sleep) -> Residency:
    """The residency once all reads that are under way have ended."""
    if not may_look(path):
        return residency(path)  # refuses
    settle(path, sleep=sleep)
    return residency(path)


def drop(path: os.PathLike | str) -> None:
    """Asks the kernel to drop a file's pages; whether it did is for the caller to see."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())  # dirty pages are kept
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def try_to_drop(*paths: os.PathLike | str, sleep=time.sleep) -> list[Residency]:
    """Drops the files' pages, also those that are being read, and tells for each what stayed."""
    found: list[Residency | None] = [_dropped(path, sleep) for path in paths]
    if None in found:
        sleep(_QUIET_SECONDS)
        for number, path in enumerate(paths):
            drop(path)
            found[number] = residency(path)
    return found


def _dropped(path: os.PathLike | str, sleep) -> Residency | None:
    """What stays; None if the kernel cannot tell whether more is to come."""
    last = None
    for _ in range(round(_SETTLE_SECONDS / _POLL_SECONDS)):
        drop(path)
        left = residency(path)
        with open(path, "rb") as file:
            cached = _cached_pages(file.fileno())
        if cached is None:
            return None
        if cached == left.resident_pages:
            # What had only just been read stays once, what is mapped or locked always.
            if cached == 0 or cached == last:
                return left
            last = cached
        else:
            # Pages that are being read cannot be dropped, and would come in later.
            sleep(_POLL_SECONDS)
    raise _still_read(path)


def may_drop_everything() -> bool:
    return os.access(_DROP_CACHES, os.W_OK, effective_ids=True)


def drop_everything() -> None:
    """Drops all that the kernel lets go of all files, and of its directories and inodes."""
    os.sync()  # dirty pages are kept
    Path(_DROP_CACHES).write_text("3", "ascii")


def make_cold(*paths: os.PathLike | str, sleep=time.sleep) -> None:
    """Drops the files' pages; fails if any stayed, and says how many and why."""
    for path, left in zip(paths, try_to_drop(*paths, sleep=sleep), strict=True):
        if left.resident_pages:
            raise Failure(f"{os.fspath(path)}: {left.resident_pages} of {left.pages.size} pages "
                          f"stayed in the page cache: {why_resident(path)}",
                          note="--allow-warm measures all the same and labels the result as not "
                          "cold")


def load(path: os.PathLike | str) -> None:
    """Reads a whole file into the cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def make_warm(path: os.PathLike | str) -> None:
    """Reads a file into the cache; fails if not all of it stays there."""
    for _ in range(_LOADS):
        if residency(path).pages.all():
            return
        load(path)
    missing = np.count_nonzero(~residency(path).pages)
    if missing:
        raise Failure(f"{os.fspath(path)}: {missing} pages did not stay in the page cache after "
                      f"reading the whole file {_LOADS} times",
                      note="the kernel reclaims them: memory is short, limited by a cgroup, or "
                      "watched by DAMON")


def lock(path: os.PathLike | str) -> mmap.mmap:
    """Reads a file into the cache and keeps it there until the returned mapping is closed.

    To have been read is not enough: kernels reclaim pages also while there is plenty of memory
    (DAMON, memory cgroups).
    """
    with open(path, "rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    start = np.frombuffer(mapping, dtype=np.uint8)
    failed = _libc.mlock(ctypes.c_void_p(start.ctypes.data), ctypes.c_size_t(start.size))
    error = ctypes.get_errno()
    del start
    if failed:
        mapping.close()
        raise OSError(error, os.strerror(error), os.fspath(path))
    return mapping


def file_system(path: os.PathLike | str) -> str:
    """The type of the file system a file is on."""
    return _mount(path)[0]


def mount_source(path: os.PathLike | str) -> str:
    """What the file system that a file is on was mounted from."""
    return _mount(path)[1]


def _mount(path: os.PathLike | str) -> tuple[str, str]:
    mounts = Path("/proc/self/mountinfo").read_bytes()
    return mount_in(mounts, os.path.realpath(os.fsencode(path)))


def mount_in(mounts: bytes, path: bytes) -> tuple[str, str]:
    """The type and source of a file's file system, of mountinfo's text: the longest mount point
    above the path decides, and the last of those that are mounted over each other. (Device numbers
    would not do: those of files on btrfs are not in the table.)
    """
    best, found = b"", (b"unknown", b"none")
    for line in mounts.splitlines():
        fields, _, tail = line.partition(b" - ")
        point = _unescape(fields.split()[4])
        if os.path.commonpath([path, point]) == point and len(point) >= len(best):
            kind, source = tail.split()[:2]
            best, found = point, (kind, _unescape(source))
    return os.fsdecode(found[0]), os.fsdecode(found[1])


def _unescape(field: bytes) -> bytes:
    return re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), field)


def mapped_by(path: os.PathLike | str) -> list[str]:
    """The processes that map a file, as far as we may see, as `name (pid)`."""
    status = os.stat(path)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    found = []
    for process in sorted(Path("/proc").glob("[0-9]*"), key=lambda entry: int(entry.name)):
        try:
            maps = (process / "maps").read_text("utf-8", "replace").splitlines()
            if any(line.split()[3:5] == [device, str(status.st_ino)] for line in maps):
                name = (process / "comm").read_text("utf-8", "replace").strip()
                found.append(f"{name} ({process.name})")
        except OSError:
            continue  # it ended meanwhile, or belongs to somebody else
    return found


def why_resident(path: os.PathLike | str) -> str:
    """The best explanation of why pages stay in the cache."""
    kind = file_system(path)
    if kind in IN_MEMORY:
        return f"{kind} keeps its files in memory"
    users = mapped_by(path)
    if users:
        return "mapped by " + ", ".join(users[:4]) + (" and others" if len(users) > 4 else "")
    return "locked, or mapped by a process that cannot be seen from here"
