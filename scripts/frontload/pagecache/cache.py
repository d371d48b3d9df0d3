"""The kernel's page cache, file by file: looks at pages, drops them, and loads them.

A cold start is only cold if the file's pages are gone, and the kernel promises nothing: it keeps
pages that are dirty, mapped by a process, being read, or on a file system in memory. So we check
after every eviction, and refuse to go on if anything stayed.
"""

import errno
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from frontload.base.errors import Failure
from frontload.pagecache import kernel
from frontload.pagecache.kernel import may_look as may_look  # re-exported
from frontload.pagecache.mounts import mapped_by, why_resident

if TYPE_CHECKING:
    from frontload.pagecache.residency import Residency

_DROP_CACHES = "/proc/sys/vm/drop_caches"

# Reads of a process go on after it has exited, and a throttled device takes its time.
_SETTLE_SECONDS = 30.0
_POLL_SECONDS = 0.01
# A page can be in the cache and never become resident: if one was written in part, on a file system
# with blocks smaller than pages, its other blocks are not read. A page that does not change for
# this long is such a page; no device holds back a read for half of that.
_UNCHANGED_SECONDS = 2.0
# Without cachestat (before Linux 6.5) nothing tells whether pages are still being read. The block
# layer holds a throttled request back for at most one slice of 100 ms.
_QUIET_SECONDS = 0.12
# Some kernels soon reclaim pages that were read, memory free or not (see lock).
_LOADS = 5


def residency(path: os.PathLike[str] | str) -> "Residency":
    """Which pages of a file are in the page cache; fails where the kernel would not tell."""
    # Here, because it needs numpy, and callers that only ask about eviction do not.
    from frontload.base.arrays import np
    from frontload.pagecache.residency import Residency

    size, states = _look(path)
    return Residency(size, np.frombuffer(states, np.uint8).astype(bool))


def _look(path: os.PathLike[str] | str) -> tuple[int, bytes]:
    """The size of a file, and kernel.resident for it."""
    if not may_look(path):
        raise Failure(f"{os.fspath(path)}: cannot see which of its pages are resident: the kernel "
                      "tells only those who own the file or may write to it",
                      note="measure as the file's owner or as root, or measure a copy of the file")
    with open(path, "rb") as file:
        size = kernel.size_of(file)
        return size, kernel.resident(file, size)


def _resident_pages(path: os.PathLike[str] | str) -> int:
    return _look(path)[1].count(1)


def settle(*paths: os.PathLike[str] | str, sleep=time.sleep) -> None:
    """Waits until all current reads of the files have ended."""
    untold = False
    for path in paths:
        with open(path, "rb") as file:
            untold = not _wait_for_reads(file, sleep) or untold
    if untold:
        sleep(_QUIET_SECONDS)


def _wait_for_reads(file: BinaryIO, sleep) -> bool:
    """Whether the kernel could tell that there are no reads under way."""
    last, unchanged = None, 0
    for _ in range(round(_SETTLE_SECONDS / _POLL_SECONDS)):
        cached = kernel.cached_pages(file)
        if cached is None:
            return False
        resident = kernel.resident(file, kernel.size_of(file)).count(1)
        unchanged = unchanged + 1 if last == (cached, resident) else 0
        if cached == resident or unchanged * _POLL_SECONDS >= _UNCHANGED_SECONDS:
            return True
        last = cached, resident
        sleep(_POLL_SECONDS)
    raise _still_read(file.name)


def _still_read(path: os.PathLike[str] | str) -> Failure:
    return Failure(f"{os.fspath(path)}: is still being read after {_SETTLE_SECONDS:g} seconds",
                   note="end the processes that read it, and measure again")


def drop(path: os.PathLike[str] | str) -> None:
    """Asks the kernel to drop a file's pages; the caller must check whether it did."""
    with open(path, "rb") as file:
        try:
            os.fsync(file.fileno())  # dirty pages are kept
        except OSError as problem:
            if problem.errno != errno.EINVAL:  # a file that cannot be written has none (EROFS)
                raise
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        _drop_compressed(os.fstat(file.fileno()).st_dev)


def _drop_compressed(device: int) -> None:
    """EROFS keeps compressed blocks apart, and drops them if asked (since Linux 6.13)."""
    block = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    with suppress(OSError):
        Path(f"/sys/fs/erofs/{block.name}/drop_caches").write_text("3", "ascii")


def try_to_drop(*paths: os.PathLike[str] | str, sleep=time.sleep) -> list[int]:
    """Drops the files' pages, also those being read; returns for each how many stayed."""
    known = [_dropped(path, sleep) for path in paths]
    found = [pages for pages in known if pages is not None]
    if len(found) < len(known):
        sleep(_QUIET_SECONDS)
        found.clear()
        for path in paths:
            drop(path)
            found.append(_resident_pages(path))
    return found


def _dropped(path: os.PathLike[str] | str, sleep) -> int | None:
    """How many pages stay; None if the kernel cannot tell whether more will come."""
    last = None
    for _ in range(round(_SETTLE_SECONDS / _POLL_SECONDS)):
        drop(path)
        left = _resident_pages(path)
        with open(path, "rb") as file:
            cached = kernel.cached_pages(file)
        if cached is None:
            return None
        if cached == left:
            # Pages that had just been read stay once, mapped or locked pages always.
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
    """Drops all pages, directories and inodes that the kernel lets go."""
    os.sync()  # dirty pages are kept
    Path(_DROP_CACHES).write_text("3", "ascii")


def make_cold(*paths: os.PathLike[str] | str, sleep=time.sleep) -> None:
    """Drops the files' pages; fails if any stayed, and says how many and why."""
    stayed = try_to_drop(*paths, sleep=sleep)
    for _ in range(round(_SETTLE_SECONDS / _POLL_SECONDS)):
        # What asks for the tail of a front maps the program until it is done.
        if not any(left and any(user.startswith("frontload-tail ") for user in mapped_by(path))
                   for path, left in zip(paths, stayed, strict=True)):
            break
        sleep(_POLL_SECONDS)
        stayed = try_to_drop(*paths, sleep=sleep)
    for path, left in zip(paths, stayed, strict=True):
        if left:
            raise Failure(f"{os.fspath(path)}: {left} of {len(_look(path)[1])} pages stayed in the "
                          f"page cache: {why_resident(path)}",
                          note="--allow-warm measures anyway, and labels the result as not cold")


def load(path: os.PathLike[str] | str) -> None:
    """Reads a whole file into the cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def make_warm(path: os.PathLike[str] | str) -> None:
    """Reads a file into the cache; fails if not all of it stays there."""
    for _ in range(_LOADS):
        if 0 not in _look(path)[1]:
            return
        load(path)
    missing = _look(path)[1].count(0)
    if missing:
        raise Failure(f"{os.fspath(path)}: {missing} pages did not stay in the page cache after "
                      f"reading the whole file {_LOADS} times",
                      note="the kernel reclaims them: memory is short, limited by a cgroup, or "
                      "watched by DAMON")
