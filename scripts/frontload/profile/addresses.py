"""From addresses to names: what of a linked file a touch belongs to, and how much it touches.

A FUNCTION, BLOCK or CODE address belongs to the function that starts there, or else to the
innermost one that it lies inside: a hook in a function's body records the address of its call, not
of the entry. A DATA address stands for a granule of 16 bytes, and belongs to every datum that
overlaps it. With the map of the link (link_map.py) it also belongs to every merged string that
overlaps it, and to every input section of which it overlaps a part without a symbol.

CODE and DATA tell how much is touched: the bytes of their granules that lie in what they belong to.
FUNCTION and BLOCK tell nothing of that; nor is there anything to tell of a symbol without a size.

Several symbols may start at one address (aliases, such as the two names of a C++ constructor). One
of them is chosen, so that the same program gives the same name every time; the first difference
decides:

    1. a function (STT_FUNC, STT_GNU_IFUNC) or datum (STT_OBJECT) before a label without a type
    2. one with a size before one without: a function whose body the compiler found unreachable is
       empty, and shares its address with whatever was placed behind it
    3. global before weak before local
    4. a name without a dot before one with (`f` before `f.part.0`, `f.llvm.123`)
    5. the shorter name
    6. the name that is first bytewise
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from frontload.base.intervals import Cover, Ranges, signed
from frontload.elf import constants
from frontload.elf import file as elves
from frontload.elf.symbols import Symbols
from frontload.profile import trace as traces
from frontload.profile.format import Name, Touched
from frontload.profile.link_map import LinkMap
from frontload.profile.merged_strings import MergedStrings

# Linux reads 128 KiB around a fault unless it is told otherwise, but half of that lies before it.
WINDOW = 64 * 1024
_CODE_TYPES = (constants.STT_FUNC, constants.STT_GNU_IFUNC, constants.STT_NOTYPE)
_BIND_ORDER = {constants.STB_GLOBAL: 0, constants.STB_WEAK: 1, constants.STB_LOCAL: 2}


@dataclass(frozen=True)
class Resolved:
    """What one run touched, in order of first touch, and how many of its touches have no name. What
    the linker makes itself (merged constants, tables for the loader) needs none: it is not counted.
    """

    touched: dict[Name, Touched]
    nameless: int
    nameless_data: int  # of these, touches of data


def nameable(elf: elves.Elf, symbols: Symbols | None = None
             ) -> tuple[np.ndarray, np.ndarray]:
    """Which symbols of a linked file are functions that a profile can name, and which data; of its
    symbol table unless another one is given."""
    if symbols is None:
        symbols = elf.linked_symbols()
    classes = np.array(elf.section_classes)
    in_class = np.full(len(symbols.section), "", classes.dtype)
    placed = (symbols.section > 0) & (symbols.names.lengths() > 0)
    in_class[placed] = classes[symbols.section[placed]]
    code = np.isin(symbols.type, _CODE_TYPES) & (in_class == "text")
    data = (symbols.type == constants.STT_OBJECT) & ~np.isin(in_class, ("", "text"))
    return code, data & (symbols.size > 0)


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

    def resolve(self, kinds: np.ndarray, addresses: np.ndarray) -> Resolved:
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
        return Resolved(self._names(hits), int(np.count_nonzero(~named)),
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
                touched[name] = amount.most(touched.get(name, amount))
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


class SymbolNames:
    """Names for the functions or the data of a linked file."""

    def __init__(self, kind: str, elf: elves.Elf, symbols: Symbols, members: np.ndarray):
        self._kind = kind
        self._elf = elf
        self._symbols = symbols
        self._member = members
        self.link_map: LinkMap | None = None
        self.ranges = Ranges(symbols.value[members], symbols.ends()[members])

    def symbol_name(self, group: int) -> bytes:
        return self._symbols.names[self._chosen(group)]

    def _chosen(self, group: int) -> int:
        return min((int(self._member[each]) for each in self.ranges.members(group)),
                   key=self._preference)

    def name(self, group: int) -> Name:
        symbol = self._chosen(group)
        return Name(self._kind, self._elf.section_classes[self._symbols.section[symbol]],
                    self._symbols.names[symbol], self._file(symbol))

    def _file(self, symbol: int) -> bytes:
        """What tells a local symbol from others of its name. The object does that better than the
        source file, which objects need not name."""
        if self.link_map is not None and self._symbols.is_static(symbol):
            found = self.link_map.object_at(int(self._symbols.value[symbol]))
            if found:
                return found
        return self._symbols.source_file(symbol)

    def _preference(self, symbol: int) -> tuple:
        name = self._symbols.names[symbol]
        return (self._symbols.type[symbol] == constants.STT_NOTYPE,
                self._symbols.size[symbol] == 0,
                _BIND_ORDER.get(int(self._symbols.bind[symbol]), 0),
                b"." in name, len(name), name)


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
            yield (touch, int(self.named.ranges.start[group]), group,
                   _measure(start[mine], size[mine]))


def _overlapping(named: _Named, touches: np.ndarray, granules: np.ndarray) -> _Hits:
    """The hits of touches that belong to every group that their granules overlap."""
    first = granules[touches]
    query, group = named.ranges.overlapping(first, first + np.uint64(traces.GRANULE))
    return _Hits.of(named, touches[query], group, granules)


def _measure(start: np.ndarray, size: np.ndarray) -> Touched:
    """How many bytes the sorted pieces are, and the least number of windows that cover them."""
    if not len(start):
        return Touched()
    end = start + size.astype(np.uint64)
    windows, position, edge = 0, 0, 0
    while position < len(start):
        edge = max(edge, int(start[position])) + WINDOW
        position = int(np.searchsorted(end, np.uint64(edge), "right"))
        windows += 1
    return Touched(int(size.sum()), windows)
