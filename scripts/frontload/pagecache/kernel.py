"""The kernel's calls about the pages of a file: mincore, cachestat and mlock."""

import ctypes
import mmap
import os
from contextlib import closing
from typing import BinaryIO

from frontload.base.processes import has_capability

PAGE_SIZE = mmap.PAGESIZE
_SYS_CACHESTAT = 451  # the same number on every architecture
_OVERLAYFS_MAGIC = 0x794C7630  # include/uapi/linux/magic.h
_CAP_FOWNER = 3
_FIRST_BIT = bytes(state & 1 for state in range(256))  # of mincore's bytes; other bits are not set
_MAP_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                       ctypes.c_long)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
for _call in (_libc.munmap, _libc.mlock):
    _call.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


def may_look(path: os.PathLike[str] | str) -> bool:
    """Whether the kernel tells us the residency of a file.

    Since Linux 5.2 only its owner and those who may write it are told; for all others mincore
    reports, without an error, that every page is resident.
    """
    if os.stat(path).st_uid == os.geteuid() or os.access(path, os.W_OK, effective_ids=True):
        return True
    return has_capability(_CAP_FOWNER)


class Mapping:
    """The pages of a file in our address space, until it is closed."""

    def __init__(self, file: BinaryIO, size: int):
        self.size = size
        self.address = _libc.mmap(None, self.size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(),
                                  0)
        if self.address == _MAP_FAILED:
            raise _error(file.name)

    def close(self) -> None:
        _libc.munmap(self.address, self.size)


def size_of(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def resident(file: BinaryIO, size: int) -> bytes:
    """A byte for each page of a file's first `size` bytes: 1 if it is in the page cache and up to
    date, else 0."""
    if not size:
        return b""
    with closing(Mapping(file, size)) as mapping:
        states = ctypes.create_string_buffer(-(-size // PAGE_SIZE))
        if _libc.mincore(mapping.address, mapping.size, states):
            raise _error("mincore")
    return states.raw.translate(_FIRST_BIT)


def cached_pages(file: BinaryIO) -> int | None:
    """How many pages are in the cache or on their way there; None if the kernel cannot say."""
    size = size_of(file)
    if size == 0:
        return 0  # cachestat takes 0 bytes as all that follow
    extent = (ctypes.c_uint64 * 2)(0, size)
    counts = (ctypes.c_uint64 * 5)()  # the first: pages in the cache
    if _libc.syscall(_SYS_CACHESTAT, file.fileno(), extent, counts, 0):
        return None
    # The pages of a file on overlayfs are those of a file below, which overlayfs does not count.
    return None if counts[0] == 0 and _is_on_overlay(file) else counts[0]


def _is_on_overlay(file: BinaryIO) -> bool:
    status = (ctypes.c_long * 32)()  # larger than struct statfs, whose first field is f_type
    return _libc.fstatfs(file.fileno(), status) == 0 and status[0] == _OVERLAYFS_MAGIC


def lock(path: os.PathLike[str] | str) -> Mapping:
    """Reads a file into the cache and keeps it there until the returned mapping is closed.

    Reading alone is not enough: kernels reclaim pages even with plenty of free memory (DAMON,
    memory cgroups).
    """
    with open(path, "rb") as file:
        mapping = Mapping(file, size_of(file))
    if _libc.mlock(mapping.address, mapping.size):
        error = _error(os.fspath(path))
        mapping.close()
        raise error
    return mapping


def _error(name: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), name)
