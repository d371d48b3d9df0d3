"""Where the front of a linked file ends: the part at its beginning that holds the startup set.

ld.frontload writes this into a note (instrument/format/frontload_note.h). A file without a valid
note has a front if it has a section `.text.front` or `.rodata.front`: then the front is everything
before `.text` and `.rodata`, which hold the rest.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from frontload.base.errors import Failure
from frontload.elf.constants import SHF_ALLOC, SHT_NOBITS
from frontload.elf.file import Elf, LoadSegment, read_range

_MARKS = (b".text.front", b".rodata.front")
_REST = (b".text", b".rodata")
_NOTE = b".note.frontload"
_NOTE_START = 10, 1, b"Frontload\0\0\0", 1  # the size of the name, type, name, version
_MOST_TIERS = 8


class Loaded(NamedTuple):
    """A section that is loaded and has bytes in the file."""

    name: bytes
    offset: int
    size: int


def end_of(elf: Elf) -> int | None:
    """The offset at which the front ends; None if the file has none."""
    found = _noted(elf)
    if found is None and any(mark in elf.section_names for mark in _MARKS):
        found = end_by_sections(_loaded(elf))
    return found


def end_by_sections(loaded: Iterable[Loaded]) -> int | None:
    """The same as far as a file's sections tell, for who does not have the file."""
    loaded = list(loaded)
    if not any(section.name in _MARKS for section in loaded):
        return None
    rest = [section.offset for section in loaded if section.name in _REST]
    return min(rest) if rest else max(section.offset + section.size for section in loaded)


def _loaded(elf: Elf) -> Iterable[Loaded]:
    sections = elf.sections
    for name, flags, kind, offset, size in zip(
            elf.section_names, *(sections[field].tolist()
                                 for field in ("flags", "type", "offset", "size")), strict=True):
        if flags & SHF_ALLOC and kind != SHT_NOBITS:
            yield Loaded(name, offset, size)


def _noted(elf: Elf) -> int | None:
    """The end that the file notes; None without a note, or with a wrong one."""
    if _NOTE not in elf.section_names:
        return None
    number = elf.section_names.index(_NOTE)
    header = elf.sections[number]
    order = elf.sections.dtype["type"].byteorder  # in the words of struct, too
    try:
        note = read_range(elf, number, int(header["addr"]),
                          min(int(header["size"]), 32 + 8 * _MOST_TIERS))
        name_size, size, kind, name, version, tiers = struct.unpack_from(f"{order}III12sII", note)
        if ((name_size, kind, name, version) != _NOTE_START or not 1 <= tiers <= _MOST_TIERS
                or size != 8 + 8 * tiers):
            return None
        ends = [_offset_of(end, elf.segments)
                for end in struct.unpack_from(f"{order}{tiers}Q", note, 32)]
    except (Failure, OSError, struct.error):
        return None
    if None in ends or ends != sorted(set(ends)):
        return None
    return ends[-1]


def _offset_of(end: int, segments: Sequence[LoadSegment]) -> int | None:
    """The offset of an address one behind the last byte of something."""
    return next((segment.offset + end - segment.address for segment in segments
                 if segment.address <= end <= segment.address + segment.file_bytes), None)
