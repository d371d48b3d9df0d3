"""Writes the note of a front into a linked file, and reads what is asked for from strace's text.

Everything here is the test's own reading of instrument/format/frontload_note.h.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from frontload.elf import file as elf
from places import ROOT

INSTRUMENT = ROOT / "instrument"
PROGRAMS = Path(__file__).parent / "programs"
# What strace makes of the prefetcher's looks: nothing is in memory.
COLD = "preadv2:error=EAGAIN", "mincore:error=ENOSYS"
# A number of blocks read, ru_inblock; and all is in memory, whatever other tests evict.
BLOCKS = struct.pack("<12Q", *[0] * 11, 1 << 40).hex()
WARM = ("preadv2:error=EOPNOTSUPP", "mincore:poke_exit=@arg3=01",
        f"getrusage:poke_exit=@arg2={BLOCKS}")
PT_LOAD, PT_NOTE = 1, 4
NAME = b"Frontload\0"
TYPE = 1
FRONT_RANGES, MOST_RANGES = 16, 128
MIB = 1 << 20
FRONT_SIZE = 10 * MIB  # of what is called the front of programs/front.s
PAGE, SMALL_PIECE, LARGE_PIECE = 4096, 128 << 10, MIB


def note(ranges, *, version=3, kind=TYPE, name=NAME, count=None, size=None,
         room=None) -> bytes:
    """The bytes of a note of ranges of addresses, with room for as many or for a front's; valid
    unless something else is asked for."""
    addresses = [address for range in ranges for address in range]
    addresses += [0] * (2 * (room or FRONT_RANGES) - len(addresses))
    descriptor = struct.pack(f"<II{len(addresses)}Q", version,
                             len(ranges) if count is None else count, *addresses)
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

    def pieces(self, *ranges) -> list[tuple[int, int]]:
        """How ranges of addresses, by default all before the front's end, are to be asked for."""
        ends = [(front_offset(self.path, begin), front_offset(self.path, end))
                for begin, end in ranges] or [(0, front_offset(self.path, self.end))]
        return [piece for begin, end in ends for piece in pieces(begin, end)]

    def write_ranges(self) -> "Noted":
        return self.write(note(self.ranges()))

    def write(self, data: bytes) -> "Noted":
        """Fills the room with a note, and the rest of it with an empty note of nobody's."""
        offset, size = self.room
        rest = size - len(data)
        filler = struct.pack("<III", 4, rest - 16, 99) + b"none" if rest >= 16 else b""
        patch(self.path, offset, (data + filler).ljust(size, b"\0")[:size])
        return self


def pieces(begin: int, end: int) -> list[tuple[int, int]]:
    """How a range is to be asked for: from the start of its page, in large pieces, for devices that
    read so much at once, each of them again in small ones, but for its beginning."""
    begin = begin // PAGE * PAGE
    return [piece for large in range(begin, end, LARGE_PIECE)
            for piece in [(large, min(LARGE_PIECE, end - large)),
                          *((small, min(SMALL_PIECE, end - small)) for small in range(
                              large + SMALL_PIECE, min(large + LARGE_PIECE, end), SMALL_PIECE))]]


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
    """Where in the file an address is, which may be the end of a segment."""
    return next(f[2] + address - f[3] for _, f in headers(path)
                if f[0] == PT_LOAD and f[3] <= address <= f[3] + f[5])


def awaits_its_child(lines) -> bool:
    """Whether a program, whose line is the first, waits for a child until that has ended. A process
    that the child makes may write its lines before the child does."""
    program = lines[0].split()[0]
    waits = [line for line in lines if line.startswith(f"{program} ") and "wait4" in line]
    return any(line.endswith(f" = {child}") for line in waits
               for child in re.findall(r"wait4\((\d+)", " ".join(waits)))


def requests(lines, path: Path) -> list[tuple[int, int]]:
    """The offset and size of each readahead(2) of a file among system calls. (Of another user's
    process, strace may not say which file it is.)"""
    file = rf"\d+(?:<(?:.*/)?{re.escape(path.name)}>)?"
    found = (re.search(rf"readahead\({file}, (\d+), (\d+)", line) for line in lines)
    return [(int(match[1]), int(match[2])) for match in found if match]
