"""Where the front of a linked file is: its parts that hold the startup set, usually one at the
beginning.

ld.frontload writes this into a note (instrument/format/frontload_note.h). `frontload finish` fills
in the note of a file by another linker, which has no front: its ranges lie all over the file. A
file without a valid note has a front if it has a section `.rodata.front` or `.data.front`: then the
front is everything before `.text` and `.rodata`. `.text` begins with the front's code, whose size
`.data.padding` begins with (lldplugin/plan/front_script.h).
"""

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from frontload.base.errors import Failure
from frontload.elf.constants import SHF_ALLOC, SHT_NOBITS
from frontload.elf.file import Elf, LoadSegment, read_range

_GATHERED = (b".rodata.front", b".data.front")
_CODE, _PADDING = b".text", b".data.padding"
_REST = (_CODE, b".rodata")
_NOTE = b".note.frontload"
_NOTE_START = 10, 1, b"Frontload\0\0\0"  # the size of the name, type, name
_VERSION, _MAX_RANGES, _PAGE = 3, 128, 4096
_HEAD = 32  # the size of a note without ranges
_FRONT_ROOM = 16  # for the ranges of a front; notes for other linkers have more

Range = tuple[int, int]  # the offset of the first byte, and one past the last


class Noted(NamedTuple):
    """The ranges in a note, in two parts, and for how many it has room."""

    front: list[Range]
    tail: list[Range]
    room: int


class Loaded(NamedTuple):
    """A section that is loaded and has bytes in the file."""

    name: bytes
    offset: int
    size: int


def ranges_of(elf: Elf) -> list[Range]:
    """The ranges of the front, or of another linker's note, in the order in which a prefetch asks
    for them; none if the file has neither."""
    found = _noted(elf).front
    if not found and any(name in elf.section_names for name in _GATHERED):
        end = end_by_sections(_loaded(elf))
        found = [(0, end)] if end else []
    return found


def tail_of(elf: Elf) -> list[Range]:
    """The ranges that a prefetch asks for behind the front: starts outside of the training are
    likely to need them."""
    return _noted(elf).tail


def has_front(elf: Elf) -> bool:
    """Whether these are the ranges of a front, and not what `frontload finish` has noted in a file
    by another linker."""
    return bool(ranges_of(elf)) and _noted(elf).room <= _FRONT_ROOM


def parts_of(elf: Elf) -> list[Range]:
    """Where the front is, ascending: its ranges, and the parts of its sections that are not asked
    for because only some runs touch them."""
    ranges = ranges_of(elf)
    if not ranges:
        return []
    gathered = ((section.offset, section.offset + section.size)
                for section in _loaded(elf) if section.name in _GATHERED)
    joined: list[Range] = []
    for begin, end in sorted([*ranges, *gathered, *_code(elf)]):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif begin < end:
            joined.append((begin, end))
    return joined


def end_by_sections(loaded: Iterable[Loaded]) -> int | None:
    """The same from the sections alone, for callers without the file."""
    loaded = list(loaded)
    if not any(section.name in _GATHERED for section in loaded):
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


def _code(elf: Elf) -> list[Range]:
    """The front's part of the code, if it is known."""
    if not {_CODE, _PADDING} <= set(elf.section_names):
        return []
    code, padding = (elf.section_names.index(name) for name in (_CODE, _PADDING))
    order = elf.sections.dtype["type"].byteorder  # in the words of struct, too
    begin = int(elf.sections[code]["offset"])
    try:
        start = int(elf.sections[padding]["addr"])
        (size,) = struct.unpack(f"{order}Q", read_range(elf, padding, start, 8))
    except (Failure, OSError, struct.error):
        return []
    return [(begin, begin + size)] if 0 < size <= elf.sections[code]["size"] else []


def _noted(elf: Elf) -> Noted:
    """What the file's note has; nothing without a valid note."""
    nothing = Noted([], [], 0)
    if _NOTE not in elf.section_names:
        return nothing
    number = elf.section_names.index(_NOTE)
    header = elf.sections[number]
    order = elf.sections.dtype["type"].byteorder  # in the words of struct, too
    try:
        notes = read_range(elf, number, int(header["addr"]),
                           min(int(header["size"]), 2 * (_HEAD + 16 * _MAX_RANGES)))
        for at in range(0, len(notes) - _HEAD + 1, 4):
            name_size, size, kind, name, version, count = struct.unpack_from(
                f"{order}III12sII", notes, at)
            if (name_size, kind, name) != _NOTE_START or (version, count) == (_VERSION, 0):
                continue
            count, tail = count & 0xffff, count >> 16
            if (version == _VERSION and tail < count <= _MAX_RANGES
                    and 8 + 16 * count <= size <= len(notes) - at - 24):
                addresses = struct.unpack_from(f"{order}{2 * count}Q", notes, at + _HEAD)
                ranges = _placed(addresses, elf.segments)
                return Noted(_joined(ranges[:count - tail]), _joined(ranges[count - tail:]),
                             (size - 8) // 16)
            break
    except (Failure, OSError, struct.error):
        pass
    return nothing


def _placed(addresses: Sequence[int], segments: Sequence[LoadSegment]) -> list[Range]:
    """The ranges between these addresses; none if one of them is wrong."""
    ranges = []
    for begin, end in zip(addresses[::2], addresses[1::2], strict=True):
        first, last = _offset_of(begin, segments), _offset_of(end, segments, is_end=True)
        if first is None or last is None or not 0 < last - first == end - begin:
            return []
        ranges.append((first, last))
    return ranges


def _joined(ranges: list[Range]) -> list[Range]:
    """As they are asked for: ranges with no page between them are joined."""
    joined: list[Range] = []
    for begin, end in ranges:
        if joined and begin >= joined[-1][1] and (
                begin // _PAGE <= (joined[-1][1] - 1) // _PAGE + 1):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
    return joined


def _offset_of(address: int, segments: Sequence[LoadSegment], *,
               is_end: bool = False) -> int | None:
    """The offset of an address, or of one past the last byte of something."""
    return next((segment.offset + address - segment.address for segment in segments
                 if 0 <= address - segment.address < segment.file_bytes + is_end), None)
