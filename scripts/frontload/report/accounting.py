"""Where the bytes that a start read went: by section, and those read for nothing by symbol.

Of a section
    read     its bytes that were brought into the page cache
    touched  its touched bytes, whether read or in memory before
    wasted   read and not touched
    density  the touched part of the read bytes
The sections of a file (with a row for bytes in no section) are all its bytes, each once, so their
sum is what was read of the file.

A *function* or a *datum* is a symbol with a size; of several that start at one address (aliases)
one is named. An *object* is what the map of the link says: all its input sections together.
Whatever the linker makes or merges belongs to no object.
"""

from dataclasses import dataclass

from frontload.base.arrays import np
from frontload.base.spans import Spans
from frontload.profile.link_map import LinkMap
from frontload.report.places import Places

TOP = 50


@dataclass(frozen=True)
class Row:
    section: str
    size: int
    touched: int | None
    read: int | None
    wasted: int | None
    density: float | None


@dataclass(frozen=True)
class Wasted:
    """One symbol or object of a file, its read bytes, and the touched ones of these."""

    name: bytes
    section: str | None
    object: bytes | None
    size: int
    read: int
    touched: int

    @property
    def wasted(self) -> int:
        return self.read - self.touched


Waste = dict[str, list[Wasted]]  # the most wasteful `functions`, `data` and `objects`, most first


def density(read: int | None, wasted: int | None) -> float | None:
    """The part of read bytes that was not wasted; None if nothing was read, or it is unknown."""
    return None if not read or wasted is None else round((read - wasted) / read, 4)


def rows(place: Places, read: Spans | None, touched: Spans | None) -> list[Row]:
    """One row for each name of sections with read or touched bytes."""
    sizes = place.bytes_by_section(Spans(np.array([0]), np.array([place.file.size])))
    unused = None if read is None or touched is None else read - touched
    counts = [None if each is None else place.bytes_by_section(each)
              for each in (touched, read, unused)]
    found = []
    for name, size in sizes.items():
        was_touched, was_read, was_wasted = (None if each is None else each[name]
                                             for each in counts)
        if was_read or was_touched:
            found.append(Row(name, size, was_touched, was_read, was_wasted,
                             density(was_read, was_wasted)))
    return found


def waste(place: Places, read: Spans, touched: Spans, link_map: LinkMap | None) -> Waste:
    """The waste of one file; no objects without the map of its link."""
    symbols = place.symbols
    if symbols is None:
        return {"functions": [], "data": [], "objects": []}
    start, end = place.ranges_in_file(symbols.ranges.start, symbols.ranges.end)
    used = read & touched
    was_read, was_used = read.between(start, end), used.between(start, end)
    is_code = place.segment_flags(start) == "x"
    found: Waste = {}
    for kind, which in (("functions", is_code), ("data", ~is_code)):
        mine = np.flatnonzero(which & (was_read > was_used))
        # The most wasteful; of those that waste the same, the first in the file.
        mine = mine[np.argsort(-(was_read - was_used)[mine], kind="stable")][:TOP]
        found[kind] = [Wasted(symbols.symbol_name(group), section,
                              link_map.object_at(int(symbols.ranges.start[group])) or None
                              if link_map else None,
                              int(end[group] - start[group]), int(was_read[group]),
                              int(was_used[group]))
                       for group, section in zip(mine.tolist(), place.section_at(start[mine]),
                                                 strict=True)]
    return found | {"objects": _objects(place, read, used, link_map) if link_map else []}


def _objects(place: Places, read: Spans, used: Spans, link_map: LinkMap) -> list[Wasted]:
    start, end = place.ranges_in_file(link_map.ranges.start, link_map.ranges.end)
    was_read = read.between(start, end)
    some = np.flatnonzero(was_read > 0)
    amounts = np.column_stack([end - start, was_read, used.between(start, end)])[some]
    sums: dict[bytes, np.ndarray] = {}
    for name, amount in zip(link_map.objects(some), amounts, strict=True):
        sums[name] = sums.get(name, 0) + amount
    found = [Wasted(name, None, name, *total.tolist()) for name, total in sums.items() if name]
    found.sort(key=lambda each: (-each.wasted, each.name))
    return [each for each in found[:TOP] if each.wasted]
