"""From addresses to names: which symbol of a linked file an address belongs to.

A FUNCTION or BLOCK address belongs to the function that starts there, or else to the innermost one
that it lies inside: a hook in a function's body records the address of its call, not of the entry.
A DATA address stands for a granule of 16 bytes, and belongs to every datum that overlaps it.

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

import numpy as np

from frontload import elf as elves
from frontload import trace as traces
from frontload.profile import Name

GRANULE = 16
_CODE_TYPES = (elves.STT_FUNC, elves.STT_GNU_IFUNC, elves.STT_NOTYPE)
_BIND_ORDER = {elves.STB_GLOBAL: 0, elves.STB_WEAK: 1, elves.STB_LOCAL: 2}


class Resolver:
    """Names for the addresses of one linked file."""

    def __init__(self, elf: elves.Elf):
        symbols = elf.linked_symbols()
        self._symbols = symbols
        self._classes = np.array(elf.section_classes)
        in_class = np.full(len(symbols.section), "", self._classes.dtype)
        placed = (symbols.section > 0) & (symbols.names.lengths() > 0)
        in_class[placed] = self._classes[symbols.section[placed]]
        code = np.isin(symbols.type, _CODE_TYPES) & (in_class == "text")
        data = (symbols.type == elves.STT_OBJECT) & ~np.isin(in_class, ("", "text"))
        self._code = _Spans(symbols, np.flatnonzero(code))
        self._data = _Spans(symbols, np.flatnonzero(data & (symbols.size > 0)))
        self._chosen: dict[tuple[str, int], Name] = {}

    def names(self, kinds: np.ndarray, addresses: np.ndarray) -> tuple[list[Name], int]:
        """The names that a run touched, in order and each once, and how many touches have none."""
        is_data = kinds == traces.DATA
        code = np.full(len(addresses), -1)
        code[~is_data] = self._code.innermost(addresses[~is_data])
        touched: dict[Name, None] = {}
        nameless = 0
        for address, group, data in zip(addresses.tolist(), code.tolist(), is_data.tolist(),
                                        strict=True):
            if data:
                groups = self._data.overlapping(address, address + GRANULE)
            else:
                groups = [group] if group >= 0 else []
            nameless += not groups
            for found in groups:
                touched[self._choose("data" if data else "function", found)] = None
        return list(touched), nameless

    def _choose(self, kind: str, group: int) -> Name:
        name = self._chosen.get((kind, group))
        if name is None:
            spans = self._data if kind == "data" else self._code
            symbol = min(spans.members(group), key=self._preference)
            name = Name(kind, str(self._classes[self._symbols.section[symbol]]),
                        self._symbols.names[symbol], self._symbols.source_file(symbol))
            self._chosen[kind, group] = name
        return name

    def _preference(self, symbol: int) -> tuple:
        name = self._symbols.names[symbol]
        return (self._symbols.type[symbol] == elves.STT_NOTYPE,
                self._symbols.size[symbol] == 0,
                _BIND_ORDER.get(int(self._symbols.bind[symbol]), 0),
                b"." in name, len(name), name)


class _Spans:
    """The address ranges of some symbols. A group is the symbols that start at one address, and is
    known by the position of the first of them."""

    def __init__(self, symbols: elves.Symbols, members: np.ndarray):
        self._member = members[np.argsort(symbols.value[members], kind="stable")]
        self._start = symbols.value[self._member]
        self._end = symbols.ends()[self._member]
        self._reach = np.maximum.accumulate(self._end)  # the farthest end of this and all before

    def members(self, group: int) -> list[int]:
        end = np.searchsorted(self._start, self._start[group], "right")
        return self._member[group:end].tolist()

    def innermost(self, addresses: np.ndarray) -> np.ndarray:
        """For each address the group that starts there or last before it around it, else -1."""
        groups = np.full(len(addresses), -1)
        position = np.searchsorted(self._start, addresses, "right") - 1
        pending = np.flatnonzero(position >= 0)
        while len(pending):
            here, wanted = position[pending], addresses[pending]
            found = (self._start[here] == wanted) | (self._end[here] > wanted)
            groups[pending[found]] = np.searchsorted(self._start, self._start[here[found]], "left")
            # Not in this one: an earlier symbol may reach over it, so look one symbol back.
            pending = pending[~found & (here > 0)]
            position[pending] -= 1
            pending = pending[self._reach[position[pending]] > addresses[pending]]
        return groups

    def overlapping(self, first: int, end: int) -> list[int]:
        """The groups with a symbol that has bytes in [first, end), by address."""
        groups = set()
        position = int(np.searchsorted(self._start, np.uint64(end), "left")) - 1
        while position >= 0 and int(self._reach[position]) > first:
            if int(self._end[position]) > first:
                groups.add(int(np.searchsorted(self._start, self._start[position], "left")))
            position -= 1
        return sorted(groups)
