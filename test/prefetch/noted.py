"""Writes the note of a front into a linked file, and finds out what of the front is in memory.

Everything here is the test's own reading of instrument/format/frontload_note.h.
"""

import struct
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from frontload.elf import file as elf
from frontload.pagecache import cache as pagecache
from frontload.pagecache import kernel

PT_LOAD, PT_NOTE = 1, 4
NAME = b"Frontload\0"
TYPE = 1
MOST_RANGES = 16
# What is called the front of programs/front.s, and how much of it is in memory if nobody asked: a
# fault reads up to 8 MiB around it where the disk's readahead is set that large.
FRONT_SIZE = 32 << 20
HARDLY = 0.75
# How long a process that asks apart from the program may take to begin, on a machine under load.
PATIENCE_SECONDS = 10


def note(ranges, *, version=2, **fields) -> bytes:
    """The bytes of a note of ranges of addresses, valid unless something else is asked for."""
    addresses = [address for range in ranges for address in range]
    room = [0] * (2 * MOST_RANGES - len(addresses))
    return _note(version, len(ranges), addresses + room, **fields)


def tiers(ends, *, version=1, **fields) -> bytes:
    """The same of version 1, which has nothing but ends."""
    return _note(version, len(ends), ends, **fields)


def _note(version, number, addresses, *, kind=TYPE, name=NAME, count=None, size=None) -> bytes:
    descriptor = struct.pack(f"<II{len(addresses)}Q", version, number if count is None else count,
                             *addresses)
    padded = name + bytes(-len(name) % 4)
    return struct.pack("<III", len(name), len(descriptor) if size is None else size,
                       kind) + padded + descriptor


@dataclass
class Noted:
    """A linked file with room for a note."""

    path: Path

    def __post_init__(self):
        file = elf.read(self.path)
        section = file.sections[file.section_names.index(b".note.frontload")]
        self.room = int(section["offset"]), int(section["size"])
        symbols = file.linked_symbols()
        self.end = int(symbols.value[symbols.names.all().index(b"front_end")])
        self.start = self.end - FRONT_SIZE

    def loaded(self) -> list[tuple[int, int]]:
        """The addresses of what its segments have in the file."""
        return [(fields[3], fields[3] + fields[5]) for _, fields in headers(self.path)
                if fields[0] == PT_LOAD]

    def ranges(self) -> list[tuple[int, int]]:
        """All that is in the file before the end of the front, a range for each segment."""
        return [(begin, min(end, self.end)) for begin, end in self.loaded() if begin < self.end]

    def write(self, data: bytes) -> "Noted":
        """Fills the room with a note, and the rest of it with an empty note of nobody's."""
        offset, size = self.room
        rest = size - len(data)
        filler = struct.pack("<III", 4, rest - 16, 99) + b"none" if rest >= 16 else b""
        patch(self.path, offset, (data + filler).ljust(size, b"\0")[:size])
        return self


def patch(path: Path, offset: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def headers(path: Path) -> list[tuple[int, list[int]]]:
    """Each program header: its offset in the file, and its fields (type, flags, offset, vaddr,
    paddr, filesz, memsz, align)."""
    with open(path, "rb") as file:
        start = file.read(4096)
    (table,), (count,) = struct.unpack_from("<Q", start, 32), struct.unpack_from("<H", start, 56)
    return [(table + 56 * i, list(struct.unpack_from("<IIQQQQQQ", start, table + 56 * i)))
            for i in range(count)]


def change_header(path: Path, kind: int, **fields) -> None:
    """Changes fields of the last program header of a kind."""
    at, values = [h for h in headers(path) if h[1][0] == kind][-1]
    names = ("type", "flags", "offset", "vaddr", "paddr", "filesz", "memsz", "align")
    for name, value in fields.items():
        values[names.index(name)] = value
    patch(path, at, struct.pack("<IIQQQQQQ", *values))


def front_offset(path: Path, address: int) -> int:
    """Where in the file a front ends."""
    return next(f[2] + address - f[3] for _, f in headers(path)
                if f[0] == PT_LOAD and f[3] <= address <= f[3] + f[5])


def pages_read(path: Path) -> np.ndarray:
    """Which pages of a file that was cold have been read: those that are resident, and those that
    the kernel has paged out since. DAMON pages out whole regions of memory that nobody has used for
    a minute, together with what has just been read into them."""
    pages = pagecache.settled(path).pages
    with path.open("rb") as file:
        if _paged_out(file, 0, len(pages)):
            for page in np.flatnonzero(~pages):
                pages[page] = _paged_out(file, page, 1)
    return pages


def _paged_out(file, first: int, count: int) -> int:
    """How many of these pages were paged out, as far as the kernel tells."""
    counts = kernel.cachestat(file, first * kernel.PAGE_SIZE, count * kernel.PAGE_SIZE)
    return counts.evicted if counts else 0


def share_read(path: Path, end: int, begin: int = 0) -> float:
    """How much of a front, or of a range between these offsets, has been read: 0 to 1."""
    return float(pages_read(path)[begin // kernel.PAGE_SIZE:end // kernel.PAGE_SIZE].mean())


def numbers_read(path: Path, expected: list[int]) -> list[int]:
    """The numbers of the pages that were read, once they are the expected ones, or nobody has
    patience any more: nobody tells when a process that asks apart from the program has begun."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        pages = pages_read(path).nonzero()[0].tolist()
        if pages == expected or time.monotonic() > end:
            return pages
        time.sleep(0.01)
