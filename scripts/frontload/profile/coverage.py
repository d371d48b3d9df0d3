"""How much of a startup profile lies in the front of a linked file.

**What a name stands for** is decided where linkers decide it (resolver.py): all symbols of that
name, or of the one that it has in this build, that are defined in a loaded section. A symbol
without a size counts as one byte.
A name is *placed* if all bytes of all its symbols lie in the front, *missing*
otherwise (see `Reason`). Where the entry names an object, which a symbol table does not tell, one
symbol of several is enough: it may be the one. Symbols in .bss are always placed: they take no
bytes of the file.
Sections and strings, which no symbol names, cannot be found in a linked file: they do not count.

**The front.** A file that ld.frontload linked says where its front ends (elf/front.py). Other
linkers gather what they are told to order into one block of each output section, and nothing marks
it. For their files the front is, in each output section that holds a symbol of the profile, the
*startup block*: of all windows that are at most 1.25 times as long as these symbols together (each
rounded up to 16 bytes), the one with the most of their bytes, cut to the symbols that lie wholly
inside; the first, if there are several.

**Coverage** is the names placed in the front, of the names in the profile, in percent. So a profile
that has become stale fails a check as much as a layout that has come apart. With the report of the
link, names that it left out on purpose are told from those that lie elsewhere for no good reason.

**Density** is the bytes of the placed symbols (each byte once, without .bss) by the bytes of the
front.

**The longest ordered run** is the largest number of profile names that follow each other in the
profile and in the file: of the names in one output section, in profile order, each starts no lower
than the one before, and what lies between the end of one and the start of the next belongs to no
symbol (padding, jump tables) or to symbols of the profile. Names in other sections, and missing
names, do not interrupt it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from frontload.base.intervals import FARTHEST, Cover, signed
from frontload.elf import constants, front
from frontload.elf.file import Elf
from frontload.elf.section_names import CLASSES
from frontload.elf.symbols import Symbols
from frontload.profile.format import Name, Profile, escape
from frontload.profile.resolver import Place

_SLACK = 1.25
_ROUNDING = 16


class Reason(StrEnum):
    """Why a name is not placed."""

    NO_SYMBOL = "no such symbol"
    UNDEFINED = "only referred to, or in a section that is not loaded"
    LEFT_OUT = "left out of the front, as it costs less to fault in"
    OUTSIDE = "outside the front"


@dataclass(frozen=True)
class MissingName:
    name: Name
    reason: Reason
    section: bytes = b""  # where it is, if it is anywhere


@dataclass(frozen=True)
class Block:
    """The startup block of one output section; `offset` is its place in the section."""

    section: bytes
    offset: int
    size: int


@dataclass(frozen=True)
class OrderedRun:
    """The longest ordered run."""

    names: int = 0
    section: bytes = b""
    first: bytes = b""
    last: bytes = b""


@dataclass
class ClassCount:
    """Sums over a section class. A name counts where it is now; if it is nowhere, where it was."""

    names: int = 0
    present: int = 0
    placed: int = 0
    bytes_present: int = 0
    bytes_placed: int = 0


@dataclass
class Report:
    """The answer. `blocks` is None for a file that ld.frontload linked."""

    classes: dict[str, ClassCount]
    ambiguous: int  # names that stand for several symbols
    inexact: int  # names whose symbols are called otherwise now
    front_size: int
    ranges: list[front.Range]  # of the front in the file, in the order of a prefetch
    unnamed: dict[bytes, int]  # bytes of the ranges that nobody named, by section
    blocks: list[Block] | None
    longest_run: OrderedRun
    missing: list[MissingName]
    not_sought: int  # sections and strings

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
        """The names that the linker left out on purpose, as far as its report says that."""
        return sum(entry.reason == Reason.LEFT_OUT for entry in self.missing)

    @property
    def settled(self) -> float:
        """The names that are where they should be, of those in the profile, in percent."""
        return 100 * (self.placed + self.left_out) / self.names

    @property
    def asked(self) -> int:
        """The bytes that a prefetch reads."""
        return sum(end - begin for begin, end in self.ranges)

    @property
    def is_mostly_unnamed(self) -> bool:
        """Whether so much is read for nothing that somebody should know: a quarter, and more than a
        window of 64 KiB, as ld.frontload says it."""
        unnamed = sum(self.unnamed.values())
        return unnamed > 64 << 10 and unnamed > self.asked / 4

    @property
    def coverage(self) -> float:
        return 100 * self.placed / self.names

    @property
    def density(self) -> float:
        used = sum(count.bytes_placed for name, count in self.classes.items() if name != "bss")
        return used / self.front_size if self.front_size else 0.0


def suffices(report: Report, min_coverage: float, min_match: float) -> bool:
    """Whether so many percent of the names are where they should be, and in the file at all."""
    return (report.settled >= min_coverage
            and 100 * report.present >= min_match * report.names)


def examine(elf: Elf, profile: Profile, places: list[Place],
            left_out: Collection[str] = ()) -> Report:
    """Looks for the names of `profile` in a linked file, where they are at `places`. `left_out` are
    those that its link says it has left out (front_report.py)."""
    symbols = elf.linked_symbols()
    names = [name for name, _ in profile.in_order() if name.has_symbol]
    entries = list(profile.touches)
    found = _find(elf, symbols, names, [(entries[place.entry], place) for place in places])
    inexact = {place.entry for place in places if place.how != "exact"}
    pieces = _Pieces(elf, symbols, found)
    blocks, ranges = None, front.ranges_of(elf)
    parts = front.parts_of(elf)
    front_size = sum(end - begin for begin, end in parts)
    if parts:
        in_front = pieces.within(elf, parts)
    else:
        blocks, in_front = _startup_blocks(elf, pieces)
        front_size = sum(block.size for block in blocks)
    in_front |= pieces.in_bss
    outside = np.bincount(pieces.entry[~in_front], minlength=len(names))
    inside = np.bincount(pieces.entry[in_front], minlength=len(names))
    unknown = np.array([_may_be_another(symbols, name, rows)
                        for name, rows in zip(names, found, strict=True)], bool)
    is_placed = (inside > 0) & ((outside == 0) | unknown)
    classes = {name: ClassCount() for name in CLASSES}
    missing = []
    for number, (name, rows) in enumerate(zip(names, found, strict=True)):
        if isinstance(rows, Reason):
            classes[name.section_class].names += 1
            missing.append(MissingName(name, rows))
            continue
        section = int(symbols.section[rows[0]])
        count = classes[elf.section_classes[section]]
        count.names += 1
        count.present += 1
        if not is_placed[number]:
            reason = Reason.LEFT_OUT if escape(name.name).decode() in left_out else Reason.OUTSIDE
            missing.append(MissingName(name, reason, elf.section_names[section]))
        else:
            count.placed += 1
    counts = is_placed[pieces.entry] & in_front
    for section, mine in pieces.by_section():
        count = classes[elf.section_classes[section]]
        count.bytes_present += Cover(pieces.start[mine], pieces.end[mine]).size
        mine = mine[counts[mine]]
        count.bytes_placed += Cover(pieces.start[mine], pieces.end[mine]).size
    ambiguous = sum(isinstance(rows, list) and len(rows) > 1 for rows in found)
    return Report(classes, ambiguous, len(inexact), front_size, ranges,
                  front.unnamed_in(elf), blocks,
                  _longest_run(elf, symbols, pieces, names), missing,
                  len(profile.touches) - len(names))


def _find(elf: Elf, symbols: Symbols, names: list[Name],
          places: list[tuple[Name, Place]]) -> list[list[int] | Reason]:
    """For each name the rows of the symbol table that it stands for, or why there are none."""
    sought: dict[tuple[bytes, int], list[Name]] = {}
    for name, place in places:
        sought.setdefault((place.symbol, place.value), []).append(name)
    wanted = {name.name for name in names}
    rows_of: dict[Name, list[int]] = {}
    why = {}  # by the names that symbols have
    rows = np.flatnonzero(~np.isin(symbols.type, constants.STT_NO_PLACE))
    for row, symbol in zip(rows.tolist(), symbols.names.some(rows), strict=True):
        if _class_of(elf, symbols, row):
            for name in sought.get((symbol, int(symbols.value[row])), ()):
                rows_of.setdefault(name, []).append(row)
        if symbol in wanted:
            why[symbol] = Reason.UNDEFINED
    return [rows_of.get(name) or why.get(name.name, Reason.NO_SYMBOL) for name in names]


def _may_be_another(symbols: Symbols, name: Name, rows: list[int] | Reason) -> bool:
    """Whether it takes the map of the link to tell which of several symbols a name is."""
    return (isinstance(rows, list) and bool(name.file)
            and all(symbols.source_file(row) != name.file for row in rows))


def _class_of(elf: Elf, symbols: Symbols, row: int) -> str:
    section = symbols.section[row]
    return elf.section_classes[section] if section > 0 else ""


class _Pieces:
    """The byte ranges of the symbols that the names stand for, in profile order, then by address:
    entry (the number of the name), section, and start and end as offsets in the section."""

    def __init__(self, elf: Elf, symbols: Symbols, found: list[list[int] | Reason]):
        pairs = [(entry, row) for entry, rows in enumerate(found) if isinstance(rows, list)
                 for row in rows]
        entry, row = np.array(pairs, np.int64).reshape(-1, 2).T
        section, start, end = _ranges(elf, symbols, row)
        order = np.lexsort((start, section, entry))
        self.entry, self.section = entry[order], section[order]
        self.start, self.end = start[order], np.maximum(end, start + 1)[order]
        self.in_bss = elf.sections["type"][self.section] == constants.SHT_NOBITS

    def within(self, elf: Elf, ranges: list[front.Range]) -> np.ndarray:
        """Which pieces lie in the file within one of these ranges."""
        offset = signed(elf.sections["offset"])[self.section]
        return np.any([(begin <= offset + self.start) & (offset + self.end <= end)
                       for begin, end in ranges], axis=0)

    def by_section(self) -> list[tuple[int, np.ndarray]]:
        """The sections with pieces, each with the positions of its pieces."""
        return [(section, np.flatnonzero(self.section == section))
                for section in np.unique(self.section).tolist()]


def _ranges(elf: Elf, symbols: Symbols, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Section, and start and end as offsets in it, of symbols that are in sections."""
    section = symbols.section[rows]
    start = (symbols.value[rows] - elf.sections["addr"].astype(np.uint64)[section]).astype(np.int64)
    start = np.maximum(signed(start), -FARTHEST)
    return section, start, start + signed(symbols.size[rows])


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
        best = int(np.argmax(total[stop] - total[:-1]))
        first, last = int(startup.start[best]), int(startup.end[stop[best] - 1])
        inside[mine] = (start >= first) & (end <= last)
        blocks.append(Block(elf.section_names[section], first, last - first))
    return blocks, inside


def _longest_run(elf: Elf, symbols: Symbols, pieces: _Pieces, names: list[Name]) -> OrderedRun:
    real = symbols.placed() & (symbols.size > 0)
    section_of, all_start, all_end = _ranges(elf, symbols, np.flatnonzero(real))
    longest = OrderedRun()
    for section, mine in pieces.by_section():
        start, end, entry = pieces.start[mine], pieces.end[mine], pieces.entry[mine]
        here = section_of == section
        everything = Cover(np.concatenate([all_start[here], start]),
                           np.concatenate([all_end[here], end]))
        startup = Cover(start, end)
        gap_start, gap_end = end[:-1], np.maximum(start[1:], end[:-1])
        strange = everything.between(gap_start, gap_end) - startup.between(gap_start, gap_end)
        breaks = np.flatnonzero((start[1:] < start[:-1]) | (strange > 0)) + 1
        first = np.concatenate([[0], breaks])
        last = np.append(breaks, len(mine)) - 1
        number = np.cumsum(np.diff(entry, prepend=entry[0]) > 0)
        length = number[last] - number[first] + 1
        best = int(np.argmax(length))
        if length[best] > longest.names:
            longest = OrderedRun(int(length[best]), elf.section_names[section],
                                 names[entry[first[best]]].name, names[entry[last[best]]].name)
    return longest
