"""From addresses to names: what of a linked file a touch belongs to, and how much it touches.

A FUNCTION, BLOCK or CODE address belongs to the function that starts there, or else to the
innermost one that it lies inside: a hook in a function's body records the address of its call, not
of the entry. A DATA address stands for a granule of 16 bytes, and belongs to every datum that
overlaps it. With the map of the link (link_map.py) it also belongs to every merged string that
overlaps it, and to every input section of which it overlaps a part without a symbol.

CODE and DATA tell how much is touched: the bytes of their granules that lie in what they belong to.
FUNCTION and BLOCK tell nothing of that; nor is there anything to tell of a symbol without a size.

Of several symbols at one address (aliases) symbol_names.py chooses one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from frontload.base.intervals import Cover, Ranges, signed
from frontload.elf import file as elves
from frontload.profile import trace as traces
from frontload.profile.format import LONGEST_STRETCH, Name, Stretch, Touched
from frontload.profile.link_map import LinkMap
from frontload.profile.merged_strings import MergedStrings
from frontload.profile.symbol_names import SymbolNames, nameable

# Linux reads 128 KiB around a fault unless it is told otherwise, but half of that lies before it.
WINDOW = 64 * 1024


@dataclass(frozen=True)
class TouchedNames:
    """What one run touched, in order of first touch, and how many of its touches have no name. What
    the linker makes itself (merged constants, tables for the loader) needs none: it is not counted.
    """

    touched: dict[Name, Touched]
    nameless: int
    nameless_data: int  # of these, touches of data


class Resolver:
    """Names for the addresses of one linked file."""

    def __init__(self, elf: elves.Elf):
        symbols = elf.linked_symbols()
        code, data = nameable(elf)
        self._functions = SymbolNames("function", elf, symbols, np.flatnonzero(code))
        self._data = SymbolNames("data", elf, symbols, np.flatnonzero(data))
        named = np.flatnonzero(code | data)
        self._symbols = Cover(signed(symbols.value[named]), signed(symbols.ends()[named]))
        self._elf = elf
        self.link_map: LinkMap | None = None
        self._chosen: dict[tuple[_Named, int], Name | None] = {}

    def use_map(self, link_map: LinkMap) -> None:
        """Gives what no symbol names a name, too."""
        self.link_map = link_map
        self._functions.link_map = self._data.link_map = link_map
        self._strings = MergedStrings(self._elf, link_map.strings)

    def resolve(self, kinds: np.ndarray, addresses: np.ndarray) -> TouchedNames:
        """The names of what a run touched; the touches are given in order."""
        granules = addresses & ~np.uint64(traces.GRANULE - 1)
        data = np.flatnonzero(kinds == traces.DATA)
        code = np.flatnonzero(kinds != traces.DATA)
        group = self._functions.ranges.innermost(addresses[code])
        code, group = code[group >= 0], group[group >= 0]
        functions = _Hits.of(self._functions, code, group, granules)
        functions.size[kinds[code] != traces.CODE] = 0
        hits = [functions, _overlapping(self._data, data, granules)]
        if self.link_map is not None:
            hits.append(_overlapping(self._strings, data, granules))
            sections = _overlapping(self.link_map, data, granules)
            start = signed(sections.start)
            bare = self._symbols.between(start, start + sections.size) == 0
            hits.append(sections.some(bare))
        named = np.zeros(len(kinds), bool)
        for each in hits:
            named[each.touch] = True
        if self.link_map is not None:
            end = granules[data] + np.uint64(traces.GRANULE)
            named[data[self.link_map.made.overlapping(granules[data], end)[0]]] = True
        return TouchedNames(self._names(hits), int(np.count_nonzero(~named)),
                            int(np.count_nonzero(~named[data])))

    def _names(self, hits: list["_Hits"]) -> dict[Name, Touched]:
        """The names in order of first touch; of one touch, by address."""
        found = []
        for each in hits:
            for touch, start, group, amount in each.groups():
                found.append((touch, start, self._name(each.named, group), amount))
        found.sort(key=lambda item: item[:2])
        touched: dict[Name, Touched] = {}
        for _, _, name, amount in found:
            if name is not None:
                touched[name] = amount.merged(touched.get(name, amount))
        return touched

    def _name(self, named: "_Named", group: int) -> Name | None:
        if (named, group) not in self._chosen:
            self._chosen[named, group] = named.name(group)
        return self._chosen[named, group]


class _Named(Protocol):
    """Something that has names for groups of address ranges."""

    ranges: Ranges

    def name(self, group: int) -> Name | None:
        """The name of a group, if it can have one in a profile."""


@dataclass
class _Hits:
    """Pairs of a touch, by its number, and a group of `named` that it belongs to; it touches `size`
    bytes of the group from `start` on."""

    named: _Named
    touch: np.ndarray
    group: np.ndarray
    start: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, named: _Named, touch: np.ndarray, group: np.ndarray,
           granules: np.ndarray) -> "_Hits":
        start = np.maximum(granules[touch], named.ranges.start[group])
        end = np.minimum(granules[touch] + np.uint64(traces.GRANULE), named.ranges.end[group])
        return cls(named, touch, group, start, signed(end) - signed(start))

    def some(self, which: np.ndarray) -> "_Hits":
        return _Hits(self.named, self.touch[which], self.group[which], self.start[which],
                     self.size[which])

    def groups(self) -> Iterator[tuple[int, int, int, Touched]]:
        """For each group its first touch, its address, its number, and how much is touched."""
        groups, where = np.unique(self.group, return_inverse=True)
        first = np.full(len(groups), len(self.touch) and self.touch.max())
        np.minimum.at(first, where, self.touch)
        # A touch is of one granule, and no two of the same granule count.
        order = np.lexsort((self.start, where))
        order = order[self.size[order] > 0]
        start, where = self.start[order], where[order]
        again = np.zeros(len(order), bool)
        again[1:] = (start[1:] == start[:-1]) & (where[1:] == where[:-1])
        order, start, where = order[~again], start[~again], where[~again]
        size = self.size[order]
        bounds = np.searchsorted(where, np.arange(len(groups) + 1))
        for index, (touch, group) in enumerate(zip(first.tolist(), groups.tolist(), strict=True)):
            mine = slice(bounds[index], bounds[index + 1])
            begin, end = (int(self.named.ranges.start[group]), int(self.named.ranges.end[group]))
            yield touch, begin, group, _measure(start[mine], size[mine], begin, end)


def _overlapping(named: _Named, touches: np.ndarray, granules: np.ndarray) -> _Hits:
    """The hits of touches that belong to every group that their granules overlap."""
    first = granules[touches]
    query, group = named.ranges.overlapping(first, first + np.uint64(traces.GRANULE))
    return _Hits.of(named, touches[query], group, granules)


def _measure(start: np.ndarray, size: np.ndarray, begin: int, end: int) -> Touched:
    """How much the sorted pieces touch of what lies from `begin` to `end`."""
    if not len(start):
        return Touched()
    ends = start + size.astype(np.uint64)
    windows, position, edge = 0, 0, 0
    while position < len(start):
        edge = max(edge, int(start[position])) + WINDOW
        position = int(np.searchsorted(ends, np.uint64(edge), "right"))
        windows += 1
    stretch = Stretch(int(start[0]) - begin, int(ends[-1]) - 1 - begin)
    is_told = end - begin > WINDOW and stretch.size <= LONGEST_STRETCH
    return Touched(int(size.sum()), windows, stretch if is_told else None)
