"""Which symbols of a linked file a profile can name, and which one names an address.

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

from frontload.base.intervals import Ranges
from frontload.elf import constants
from frontload.elf.file import Elf
from frontload.elf.symbols import Symbols
from frontload.profile.format import Name
from frontload.profile.link_map import LinkMap

_CODE_TYPES = (constants.STT_FUNC, constants.STT_GNU_IFUNC, constants.STT_NOTYPE)
_BIND_ORDER = {constants.STB_GLOBAL: 0, constants.STB_WEAK: 1, constants.STB_LOCAL: 2}


def nameable(elf: Elf, symbols: Symbols | None = None) -> tuple[np.ndarray, np.ndarray]:
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


class SymbolNames:
    """Names for the functions or the data of a linked file."""

    def __init__(self, kind: str, elf: Elf, symbols: Symbols, members: np.ndarray):
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


def names_of(elf: Elf) -> SymbolNames | None:
    """The functions and data of a file; those that it shares with others where it was stripped of
    the rest."""
    symbols = elf.symbols if elf.symbols is not None else elf.dynamic_symbols
    if symbols is None:
        return None
    code, data = nameable(elf, symbols)
    return SymbolNames("function", elf, symbols, np.flatnonzero(code | data))
