"""How much of a startup profile lies in the front of a linked file.

**What a name stands for** is decided as in links (resolver.py): all symbols of that name, or of its
name in this build, that are defined in a loaded section. A symbol without a size counts as one
byte. A name is *placed* if all bytes of all its symbols lie in the front, *missing* otherwise (see
`Reason`). Where the entry names an object, which a symbol table does not have, one symbol of
several is enough. Symbols in .bss are always placed: they take no bytes of the file. Sections and
strings have no symbols, so they cannot be found in a linked file and do not count.

**The front.** A file that ld.frontload linked records where its front ends (elf/front.py). In a
file by another linker, the ranges that `frontload finish` has noted take the place of the front.
Without a note, other linkers gather what they are told to order into one block of each output
section, without a mark. For their files the front is, in each output section that holds a symbol of
the profile, the *startup block*: of all windows that are at most 1.25 times as long as these
symbols together (each rounded up to 16 bytes), the first with the most of their bytes, cut to the
symbols that lie wholly inside.

**Coverage** is the percentage of the profile's names that are placed in the front. So a stale
profile fails a check as much as a broken layout. The report of the link tells names that it left
out on purpose from misplaced ones.

**Density** is the bytes of the placed symbols (each byte once, without .bss) by the bytes of the
front.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from frontload.base.arrays import np
from frontload.base.errors import BadData
from frontload.base.intervals import MAX_ADDRESS, Cover, columns, signed
from frontload.elf import constants, front
from frontload.elf.file import Elf
from frontload.elf.section_names import CLASSES
from frontload.elf.symbols import Symbols
from frontload.profile.format import escape
from frontload.profile.resolver import Places
from frontload.profile.startup_profile import Name, Profile

_SLACK = 1.25
_ROUNDING = 16


class Reason(str, Enum):
    """Why a name is not placed."""

    __str__ = str.__str__

    NO_SYMBOL = "no such symbol"
    UNDEFINED = "only referred to, or in a section that is not loaded"
    LEFT_OUT = "left out of the front, as it costs less to fault in"
    OUTSIDE = "outside the front"
    NOT_NOTED = "outside the ranges of its note"


class MissingName(NamedTuple):
    name: Name
    reason: Reason
    section: bytes = b""  # the section it is in, if any


@dataclass(frozen=True)
class Block:
    """The startup block of one output section; `offset` is its place in the section."""

    section: bytes
    offset: int
    size: int


@dataclass
class ClassCount:
    """Sums over a section class: the class of a name now, or if it is nowhere, as recorded."""

    names: int = 0
    present: int = 0
    placed: int = 0
    bytes_present: int = 0
    bytes_placed: int = 0


@dataclass
class Report:
    """The result. `blocks` is None for a file with a front, or with a note of another linker.
    `asked`: how many names each of the given sets has; `unasked`: those that the last lacks."""

    classes: dict[str, ClassCount]
    ambiguous: int  # names that stand for several symbols
    inexact: int  # names whose symbols have other names now
    front_size: int
    ranges: list[front.Range]  # of the front in the file, in the order of a prefetch
    blocks: list[Block] | None
    has_front: bool
    asked: list[int]
    unasked: list[Name]
    missing: list[MissingName]
    not_sought: int  # sections and strings
    # Names that are gone and count nowhere: starts touch them no more; or they may be inlined.
    faded: int
    inlined: int

    @property
    def place(self) -> str:
        """The noun for where names are looked for."""
        return "the front" if self.has_front or self.blocks is not None else "its note"

    @property
    def names(self) -> int:
        return sum(count.names for count in self.classes.values())

    @property
    def present(self) -> int:
        return sum(count.present for count in self.classes.values())

    @property
    def placed(self) -> int:
        return sum(count.placed for count in self.classes.values())

    @property
    def left_out(self) -> int:
        """The names that the linker left out on purpose, according to its report."""
        return sum(entry.reason == Reason.LEFT_OUT for entry in self.missing)

    @property
    def settled(self) -> float:
        """The percentage of the profile's names that are where they should be."""
        return 100 * (self.placed + self.left_out) / self.names

    @property
    def coverage(self) -> float:
        return 100 * self.placed / self.names

    @property
    def density(self) -> float:
        used = sum(count.bytes_placed for name, count in self.classes.items() if name != "bss")
        return used / self.front_size if self.front_size else 0.0


def suffices(report: Report, min_coverage: float, min_match: float) -> bool:
    """Whether these percentages of names are where they should be, and in the file at all."""
    return (report.settled >= min_coverage
            and 100 * report.present >= min_match * report.names)


def examine(elf: Elf, profile: Profile, places: Places, left_out: Collection[str] = (),
            asked: Sequence[Cover] = ()) -> Report:
    """Looks for the names of `profile` in a linked file, where they are at `places`. `left_out`:
    the names that its link left out (front_report.py); `asked`: parts of the file to look in, too.
    """
    symbols = elf.linked_symbols()
    entries = list(profile.touches)
    order = np.array([number for number in profile.order() if entries[number].has_symbol],
                     np.int64)
    names = list(map(entries.__getitem__, order.tolist()))
    numbers = np.full(len(entries), -1)
    numbers[order] = np.arange(len(order))
    found = _find(elf, symbols, numbers, len(names), places)
    pieces = _Pieces(elf, symbols, found)
    blocks, ranges = None, front.ranges_of(elf)
    parts = front.parts_of(elf)
    front_size = sum(end - begin for begin, end in parts)
    if parts:
        in_front = pieces.within(elf, Cover(*columns(parts), joined=True))
    else:
        blocks, in_front = _startup_blocks(elf, pieces)
        front_size = sum(block.size for block in blocks)
    in_front |= pieces.in_bss
    may_be_another = _may_be_another(symbols, names, found)

    def placed(inside: np.ndarray) -> np.ndarray:
        """Which names are wholly there, by their pieces."""
        lacks, has = (np.bincount(pieces.entry[some], minlength=len(names))
                      for some in (~inside, inside))
        return (has > 0) & ((lacks == 0) | may_be_another)

    is_placed = placed(in_front)
    is_asked = [placed(pieces.in_bss | pieces.within(elf, cover)) for cover in asked]
    outside = Reason.OUTSIDE if blocks is not None or front.has_front(elf) else Reason.NOT_NOTED
    classes, missing, faded, inlined = _count(elf, symbols, names, found, is_placed, left_out,
                                              profile, outside)
    counts = is_placed[pieces.entry] & in_front
    for section, mine in pieces.by_section():
        count = classes[elf.section_classes[section]]
        count.bytes_present += Cover(pieces.start[mine], pieces.end[mine]).size
        mine = mine[counts[mine]]
        count.bytes_placed += Cover(pieces.start[mine], pieces.end[mine]).size
    ambiguous = int(np.count_nonzero(found.count > 1))
    unasked = np.flatnonzero((found.count > 0) & ~is_asked[-1]).tolist() if asked else ()
    return Report(classes, ambiguous, len(places.inexact()), front_size, ranges, blocks,
                  front.has_front(elf), [int(each.sum()) for each in is_asked],
                  [names[number] for number in unasked], missing,
                  len(profile.touches) - len(names), faded, inlined)


class _Found:
    """The rows of the symbol table that names stand for: pairs of `name`, the number of a name, and
    `row`, by both. Name i has `count[i]` pairs, from `first[i]` on."""

    def __init__(self, names: int, name: np.ndarray, row: np.ndarray):
        order = np.lexsort((row, name))
        once = np.full(len(order), True)
        name, row = name[order], row[order]
        once[1:] = (name[1:] != name[:-1]) | (row[1:] != row[:-1])
        self.name, self.row = name[once], row[once]
        self.count = np.bincount(self.name, minlength=names)
        self.first = np.cumsum(self.count) - self.count


def _find(elf: Elf, symbols: Symbols, numbers: np.ndarray, names: int, places: Places) -> _Found:
    """`numbers`: for each entry of the profile the number of its name, or -1."""
    name, row = numbers[places.entry], places.row
    name, row, value = (column[name >= 0] for column in (name, row, places.value))
    if (row >= len(symbols.value)).any() or (symbols.value[row] != value).any():
        raise BadData(elf.path, "was replaced while it was read", note="try again")
    loaded = np.array([bool(each) for each in elf.section_classes], bool)
    counts = symbols.placed()[row]
    counts[counts] = loaded[symbols.section[row[counts]]]
    return _Found(names, name[counts], row[counts])


def _may_be_another(symbols: Symbols, names: list[Name], found: _Found) -> np.ndarray:
    """Which names only the map of the link could identify: several symbols have the name, it has a
    file, and none of them is of that file."""
    tells_file = np.array([bool(name.file) for name in names], bool)
    pairs = np.flatnonzero(tells_file[found.name])
    agrees = np.array([
        source == names[number].file for number, source in
        zip(found.name[pairs].tolist(), symbols.source_files(found.row[pairs]), strict=True)], bool)
    one_agrees = np.bincount(found.name[pairs[agrees]], minlength=len(names)) > 0
    return tells_file & (found.count > 0) & ~one_agrees


def _count(elf: Elf, symbols: Symbols, names: list[Name], found: _Found, is_placed: np.ndarray,
           left_out: Collection[str], profile: Profile, outside: Reason
           ) -> tuple[dict[str, ClassCount], list[MissingName], int, int]:
    """The names of each class, those that are not placed, and how many are gone because they have
    faded, or may be inlined."""
    classes = {name: ClassCount() for name in CLASSES}
    present = found.count > 0
    section = np.full(len(names), -1)
    section[present] = symbols.section[found.row[found.first[present]]]
    for number, names_in in enumerate(np.bincount(section[present]).tolist()):
        if names_in:
            count = classes[elf.section_classes[number]]
            count.names += names_in
            count.present += names_in
            count.placed += int(np.count_nonzero(is_placed & (section == number)))
    nowhere = [names[number] for number in np.flatnonzero(~present).tolist()]
    # For names that are in no section, but in the table.
    rows = np.flatnonzero(~np.isin(symbols.type, constants.STT_NO_PLACE)) if nowhere else None
    undefined = set(symbols.names.find({name.name for name in nowhere}, rows)[1])
    missing, faded, inlined = [], 0, 0
    for number in np.flatnonzero(~is_placed).tolist():
        name = names[number]
        if not present[number] and profile.has_faded(name):
            faded += 1
        elif not present[number] and profile.touches[name].touched.inlinable:
            inlined += 1
        elif not present[number]:
            classes[name.section_class].names += 1
            missing.append(MissingName(name, Reason.UNDEFINED if name.name in undefined
                                       else Reason.NO_SYMBOL))
        else:
            is_left_out = left_out and escape(name.name).decode() in left_out
            missing.append(MissingName(name, Reason.LEFT_OUT if is_left_out else outside,
                                       elf.section_names[section[number]]))
    return classes, missing, faded, inlined


class _Pieces:
    """The byte ranges of the symbols that the names stand for: entry (the number of the name),
    section, and start and end as offsets in the section."""

    def __init__(self, elf: Elf, symbols: Symbols, found: _Found):
        self.entry, self.section = found.name, symbols.section[found.row]
        addresses = elf.sections["addr"].astype(np.uint64)[self.section]
        start = (symbols.value[found.row] - addresses).astype(np.int64)
        self.start = np.maximum(signed(start), -MAX_ADDRESS)
        self.end = self.start + np.maximum(signed(symbols.size[found.row]), 1)
        self.in_bss = elf.sections["type"][self.section] == constants.SHT_NOBITS

    def within(self, elf: Elf, cover: Cover) -> np.ndarray:
        """Which pieces lie in the file within one of the ranges of `cover`."""
        offset = signed(elf.sections["offset"])[self.section]
        begin, end = offset + self.start, offset + self.end
        index = np.searchsorted(cover.start, begin, "right") - 1
        return (index >= 0) & (end <= np.append(cover.end, 0)[index])

    def by_section(self) -> list[tuple[int, np.ndarray]]:
        """The sections with pieces, each with the positions of its pieces."""
        return [(section, np.flatnonzero(self.section == section))
                for section in np.unique(self.section).tolist()]


def _startup_blocks(elf: Elf, pieces: _Pieces) -> tuple[list[Block], np.ndarray]:
    """The startup block of each section with pieces, and which pieces lie in one."""
    blocks = []
    inside = np.zeros(len(pieces.entry), bool)
    for section, mine in pieces.by_section():
        if pieces.in_bss[mine[0]]:
            continue
        start, end = pieces.start[mine], pieces.end[mine]
        startup = Cover(start, end)
        rounded = -(-(startup.end - startup.start) // _ROUNDING) * _ROUNDING
        longest = int(_SLACK * rounded.sum())
        # The best window can be moved up to where a symbol starts.
        stop = np.searchsorted(startup.end, startup.start + longest, "right")
        size = startup.end - startup.start
        total = np.concatenate([[0], np.cumsum(size)])
        inside_each = (total[stop] - total[:-1]).tolist()
        best = inside_each.index(max(inside_each))
        first, last = int(startup.start[best]), int(startup.end[stop[best] - 1])
        inside[mine] = (start >= first) & (end <= last)
        blocks.append(Block(elf.section_names[section], first, last - first))
    return blocks, inside
