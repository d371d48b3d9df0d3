"""Where the bytes of a file lie on its device, as far as its file system reports it.

A disk reads neighboring bytes without a movement, and the kernel makes one request of reads that
follow each other there, even of two files.

We ask by ioctl(FS_IOC_FIEMAP), Documentation/filesystems/fiemap.rst. It needs no rights but to open
the file, and reads nothing of its contents.
"""

import fcntl
import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from frontload.reading.listing import PAGE, File, PrefetchList

_FS_IOC_FIEMAP = 0xC020660B
_HEADER, _EXTENT = struct.Struct("=QQIIII"), struct.Struct("=QQQQQIIII")
_EXTENTS = 256
_LAST = 0x1
# FIEMAP_EXTENT_UNKNOWN, _DELALLOC, _ENCODED, _DATA_INLINE: no byte has a place of its own
_NOWHERE = 0x2 | 0x4 | 0x8 | 0x200


Place = tuple[int, int]  # a device, and a byte of it


@dataclass(frozen=True)
class Blocks:
    """The extents of a file: where each begins and ends in the file, and its first byte's place."""

    device: int
    extents: tuple[tuple[int, int, int], ...]

    def place(self, offset: int) -> Place | None:
        for begin, end, byte in self.extents:
            if begin <= offset < end:
                return self.device, byte + offset - begin
        return None


def of_file(path: str) -> Blocks | None:
    """Where a file lies; None if it cannot be opened, or its file system does not report it."""
    if not os.path.isfile(path):  # a pipe would make us wait
        return None
    found = []
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            offset, flags = 0, 0
            while offset < status.st_size and not flags & _LAST:
                answer = bytearray(_HEADER.pack(offset, status.st_size - offset, 0, 0, _EXTENTS, 0)
                                   + bytes(_EXTENTS * _EXTENT.size))
                fcntl.ioctl(file, _FS_IOC_FIEMAP, answer)
                count = _HEADER.unpack_from(answer)[3]
                if not count:
                    break
                for index in range(count):
                    begin, byte, size, _, _, flags, *_ = _EXTENT.unpack_from(
                        answer, _HEADER.size + index * _EXTENT.size)
                    offset = begin + size
                    if not flags & _NOWHERE:
                        found.append((begin, offset, byte))
    except OSError:
        return None
    return Blocks(status.st_dev, tuple(found))


def in_order(touched: PrefetchList, files: Iterable[File]) -> list[File]:
    """The files by the place of their first touched byte, device by device; behind them, in their
    old order, files without a known place."""
    known, untold = [], []
    for file in files:
        blocks = of_file(file.path)
        place = blocks and blocks.place(min(touched.pages[file]) * PAGE)
        if place:
            known.append((place, file))
        else:
            untold.append(file)
    return [file for _, file in sorted(known, key=lambda item: item[0])] + untold


def going_on(touched: PrefetchList, files: Sequence[File]) -> set[File]:
    """The files whose first touched byte follows, on the device, the last one of the file before
    them: if both files are requested in turn, one request reads both."""
    found, end = set(), None
    for file in files:
        blocks = of_file(file.path)
        if blocks and end and blocks.place(min(touched.pages[file]) * PAGE) == end:
            found.add(file)
        last = blocks and blocks.place(max(touched.pages[file]) * PAGE)
        end = last and (last[0], last[1] + PAGE)
    return found
