"""Bytes that were read for nothing, by function, datum and object: where a layout would help.

A *function* or a *datum* is a symbol with a size; of several that start at one address (aliases)
one is named. An *object* is what the map of the link says: all its input sections together.
Whatever the linker makes or merges belongs to no object.
"""

from dataclasses import dataclass

import numpy as np

from frontload.profile.link_map import LinkMap
from frontload.report.places import Places
from frontload.report.spans import Spans

TOP = 50


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


@dataclass(frozen=True)
class Waste:
    """The most wasteful of each kind, most first; and all partly read data, for advice."""

    functions: list[Wasted]
    data: list[Wasted]
    objects: list[Wasted]


def waste(place: Places, read: Spans, touched: Spans, link_map: LinkMap | None) -> Waste:
    """The waste of one file."""
    symbols = place.symbols
    if symbols is None:
        return Waste([], [], [])
    groups = np.arange(len(symbols.ranges.start))
    start, end = place.ranges_in_file(symbols.ranges.start, symbols.ranges.end)
    used = read & touched
    was_read, was_used = read.between(start, end), used.between(start, end)
    is_code = place.segment_flags(start) == "x"
    found = []
    for which in (is_code, ~is_code):
        mine = groups[which & (was_read > was_used)]
        # The most wasteful; of those that waste the same, the first in the file.
        mine = mine[np.argsort(-(was_read - was_used)[mine], kind="stable")][:TOP]
        sections = place.section_at(start[mine])
        found.append([Wasted(symbols.symbol_name(group), section,
                             link_map.object_at(int(symbols.ranges.start[group])) or None
                             if link_map else None,
                             int(end[group] - start[group]), int(was_read[group]),
                             int(was_used[group]))
                      for group, section in zip(mine.tolist(), sections, strict=True)])
    return Waste(found[0], found[1], _objects(place, read, used, link_map) if link_map else [])


def _objects(place: Places, read: Spans, used: Spans, link_map: LinkMap) -> list[Wasted]:
    start, end = place.ranges_in_file(link_map.ranges.start, link_map.ranges.end)
    was_read, was_used = read.between(start, end), used.between(start, end)
    some = np.flatnonzero(was_read > 0)
    sums: dict[bytes, list[int]] = {}
    for group, name in zip(some.tolist(), link_map.objects(some), strict=True):
        if name:
            total = sums.setdefault(name, [0, 0, 0])
            for index, amount in enumerate((end[group] - start[group], was_read[group],
                                            was_used[group])):
                total[index] += int(amount)
    found = [Wasted(name, None, name, *total) for name, total in sums.items()]
    found.sort(key=lambda each: (-each.wasted, each.name))
    return [each for each in found[:TOP] if each.wasted]
