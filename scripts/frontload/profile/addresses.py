"""From addresses to names: which part of a linked file a touch belongs to, and how many bytes.

A FUNCTION, BLOCK or CODE address belongs to the function that starts there, or else to the
innermost one that it lies inside: a hook in a function's body records the address of its call, not
of the entry. A DATA address stands for a granule of 16 bytes, and belongs to every datum that
overlaps it. With the map of the link (link_map.py) it also belongs to every merged string that
overlaps it, and to every input section of which it overlaps a part without a symbol.

CODE and DATA also tell how much is touched: the bytes of their granules within the part. FUNCTION
and BLOCK do not; nor is anything known for a symbol without a size.

Of several symbols at one address (aliases) symbol_names.py chooses one.

A program with hooks (-finstrument-functions) has a copy of each function for their sake, and
records also those that it inlines. Another build has no such function: Touched.inlinable.

Each name has a number: thousands of traces with the same touches are added up as arrays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from frontload.base.arrays import np
from frontload.base.intervals import Ranges, signed
from frontload.elf import file as elves
from frontload.profile import touched as sums
from frontload.profile import trace as traces
from frontload.profile.link_map import LinkMap, MergedStrings
from frontload.profile.startup_profile import Name, Touched
from frontload.profile.symbol_names import SymbolNames, nameable
from frontload.profile.touched import TouchedNumbers

# By default Linux reads 128 KiB around a fault, but half of that lies before it.
WINDOW = 64 * 1024

_UNKNOWN, _NAMELESS = -2, -1
_HOOK = b"__cyg_profile_func_enter"


class _Named(Protocol):
    """Groups of address ranges that have names."""

    ranges: Ranges

    def names(self, groups: np.ndarray) -> Sequence[Name | None]:
        """The names of groups; None for a group that has none in a profile."""


class Resolver:
    """Names for the addresses of one linked file.

    The number of a name is that of its first seen group: functions come first, then data, strings,
    and sections. Other processes that read the same file may have seen another group of the same
    name; apart from that they have the same numbers.
    """

    def __init__(self, elf: elves.Elf, copies: Sequence[int] | np.ndarray = ()):
        """`copies` of a library's data (stdout, environ) have no name: no object defines them."""
        symbols = elf.linked_symbols()
        code, data = nameable(elf)
        data &= ~np.isin(symbols.value, copies)
        self._functions = SymbolNames("function", elf, symbols, np.flatnonzero(code))
        self._data = SymbolNames("data", elf, symbols, np.flatnonzero(data))
        self._elf = elf
        self._has_hooks = any(name.startswith(_HOOK) for name in
                              symbols.names.some(symbols.names.having(_HOOK)))
        self.link_map: LinkMap | None = None
        self._give_numbers(self._functions, self._data)

    def use_map(self, link_map: LinkMap) -> None:
        """Gives names to places without symbols; to be called before the first `resolve`."""
        self._strings = MergedStrings(self._elf, link_map.strings)  # refuses a map of another link
        self.link_map = link_map
        self._functions.link_map = self._data.link_map = link_map
        self._give_numbers(self._functions, self._data, self._strings, link_map)

    def _give_numbers(self, *kinds: _Named) -> None:
        self._kinds = kinds
        # Where the groups of each kind begin.
        self._begins = np.cumsum([0, *(len(named.ranges.start) for named in kinds)])
        self._number = np.full(self._begins[-1], _UNKNOWN, np.int32)
        self._known: dict[Name, int] = {}  # names with a number

    def resolve(self, kinds: np.ndarray, addresses: np.ndarray) -> TouchedNumbers:
        """What a process touched; the touches are given in order. Parts made by the linker
        (merged constants, tables for the loader) need no name: they are not counted as nameless."""
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
            end = sections.start + sections.size.astype(np.uint64)
            are_code, are_data = (each.ranges.have_bytes_in(sections.start, end)
                                  for each in (self._functions, self._data))
            hits.append(sections.some(~(are_code | are_data)))
        named = np.zeros(len(kinds), bool)
        for each in hits:
            named[each.touch] = True
        if self.link_map is not None:
            end = granules[data] + np.uint64(traces.GRANULE)
            named[data[self.link_map.made.overlapping(granules[data], end)[0]]] = True
        return TouchedNumbers(*self._in_order(hits), int(np.count_nonzero(~named)),
                              int(np.count_nonzero(~named[data])))

    def names(self, numbers: Iterable[int]) -> list[Name]:
        """The names of numbers from `resolve`, also of another process."""
        made = self._made(np.array(list(numbers), np.int64))
        return [name for name in made if name is not None]  # all of them

    def untold(self, numbers: Iterable[int]) -> list[Touched]:
        """What is known of names without touches that tell how much."""
        groups = np.array(list(numbers), np.int64)
        found = np.zeros(len(groups), bool)
        if self._has_hooks:  # functions are the groups up to the second kind's
            functions = np.flatnonzero(groups < self._begins[1])
            found[functions] = self._functions.may_be_inlined(groups[functions])
        return [Touched(inlinable=each) for each in found.tolist()]

    def functions(self, addresses: np.ndarray) -> list[Name | None]:
        """The functions that are at addresses."""
        group = self._functions.ranges.innermost(addresses)
        names = iter(self._functions.names(group[group >= 0]))
        return [next(names) if found else None for found in (group >= 0).tolist()]

    def _made(self, groups: np.ndarray) -> list[Name | None]:
        """The names of groups of all kinds."""
        found: list[Name | None] = [None] * len(groups)
        kinds = np.searchsorted(self._begins, groups, "right") - 1
        for kind, named in enumerate(self._kinds):
            mine = np.flatnonzero(kinds == kind)
            for place, name in zip(mine.tolist(), named.names(groups[mine] - self._begins[kind]),
                                   strict=True):
                found[place] = name
        return found

    def names_of(self, touched: TouchedNumbers) -> dict[Name, Touched]:
        """The touches of a process, by name."""
        amounts = sums.touched_of(touched.amounts)
        numbers = touched.numbers.tolist()
        return {name: amounts.get(number, untold) for number, name, untold in
                zip(numbers, self.names(numbers), self.untold(numbers), strict=True)}

    def _in_order(self, hits: list["_Hits"]) -> tuple[np.ndarray, np.ndarray]:
        """The numbers in order of first touch, for one touch by address; and the amounts."""
        touch = np.concatenate([each.touch for each in hits])
        start = np.concatenate([each.named.ranges.start[each.group] for each in hits])
        groups = np.concatenate([begin + each.group for begin, each
                                 in zip(self._begins.tolist(), hits, strict=False)])
        if len(touch) > len(hits[0].touch):  # functions alone are in order
            groups = groups[np.lexsort((groups, start, touch))]
        self._look_up(groups)
        numbers = self._number[groups]
        return sums.in_order(numbers[numbers != _NAMELESS]), self._amounts(hits)

    def _amounts(self, hits: list["_Hits"]) -> np.ndarray:
        amounts = []
        for begin, each in zip(self._begins.tolist(), hits, strict=False):
            amounts.append(each.amounts())
            amounts[-1]["number"] += begin
        merged = np.concatenate(amounts)
        merged["number"] = self._number[merged["number"]]
        return sums.most(merged[merged["number"] != _NAMELESS])

    def _look_up(self, groups: np.ndarray) -> None:
        """Numbers the names of groups without a number."""
        new = sums.in_order(groups[self._number[groups] == _UNKNOWN])
        for group, name in zip(new.tolist(), self._made(new), strict=True):
            self._number[group] = (_NAMELESS if name is None
                                   else self._known.setdefault(name, group))


@dataclass
class _Hits:
    """Pairs of a touch, by its number, and a group of `named` that it belongs to; with the touched
    bytes of the group, `size` from `start` on."""

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

    def amounts(self) -> np.ndarray:
        """How much of each group is touched, where that is known; `number` is the group."""
        # A touch is of one granule, and each granule counts once.
        pieces = np.flatnonzero(self.size > 0)
        pieces = pieces[np.lexsort((self.start[pieces], self.group[pieces]))]
        start, group = self.start[pieces], self.group[pieces]
        once = np.full(len(pieces), True)
        once[1:] = (start[1:] != start[:-1]) | (group[1:] != group[:-1])
        start, group, size = signed(start[once]), group[once], self.size[pieces[once]]
        ends = start + size
        first = np.flatnonzero(np.append(True, group[1:] != group[:-1])[:len(group)])
        found = sums.no_amounts(len(first))
        if not len(first):
            return found
        last = np.append(first[1:], len(group)) - 1
        begin, end = (signed(each[group[first]])
                      for each in (self.named.ranges.start, self.named.ranges.end))
        found["number"] = group[first]
        found["size"] = np.add.reduceat(size, first)
        found["windows"] = 1
        found["minus_first"] = begin - start[first]
        found["last"] = ends[last] - 1 - begin
        found["untold"] = end - begin <= WINDOW
        for index in np.flatnonzero(ends[last] > start[first] + WINDOW).tolist():
            mine = slice(first[index], last[index] + 1)
            found["windows"][index] = _windows(start[mine], ends[mine])
        return found


def _overlapping(named: _Named, touches: np.ndarray, granules: np.ndarray) -> _Hits:
    """The hits of touches in every group that their granules overlap."""
    first = granules[touches]
    query, group = named.ranges.overlapping(first, first + np.uint64(traces.GRANULE))
    return _Hits.of(named, touches[query], group, granules)


def _windows(start: np.ndarray, ends: np.ndarray) -> int:
    """How many windows cover the sorted pieces."""
    windows, position, edge = 0, 0, 0
    while position < len(start):
        edge = max(edge, int(start[position])) + WINDOW
        position = int(np.searchsorted(ends, edge, "right"))
        windows += 1
    return windows
