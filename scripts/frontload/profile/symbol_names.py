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

import re

from frontload.base.arrays import np
from frontload.base.intervals import Ranges
from frontload.elf import constants
from frontload.elf.file import Elf
from frontload.elf.symbols import Symbols
from frontload.profile.link_map import LinkMap
from frontload.profile.startup_profile import Name

_CODE_TYPES = (constants.STT_FUNC, constants.STT_GNU_IFUNC, constants.STT_NOTYPE)
_OF_STD = re.compile(rb"_ZN?[VK]*S[tabdios]")  # functions of namespace std
_BIND_ORDER = {constants.STB_GLOBAL: 0, constants.STB_WEAK: 1, constants.STB_LOCAL: 2}


def nameable(elf: Elf, symbols: Symbols | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Which symbols of a linked file are functions that a profile can name, and which are data; in
    its symbol table, or in the given one."""
    if symbols is None:
        symbols = elf.linked_symbols()
    named = (symbols.section > 0) & symbols.names.present()
    in_text, in_data = (np.array([each in classes for each in elf.section_classes], bool)[
        np.maximum(symbols.section, 0)] if len(elf.section_classes) else named
        for classes in (("text",), ("rodata", "relro", "data", "bss")))
    code = named & in_text & np.isin(symbols.type, _CODE_TYPES)
    # Each object of AArch64, Arm and RISC-V has labels such as $x, which tell code from data.
    labels = np.flatnonzero(code & (symbols.type == constants.STT_NOTYPE))
    code[labels[np.array([name[:1] == b"$" for name in symbols.names.some(labels)], bool)]] = False
    data = named & in_data & (symbols.type == constants.STT_OBJECT)
    return code, data & (symbols.size > 0)


class SymbolNames:
    """Names for the functions or the data of a linked file."""

    def __init__(self, kind: str, elf: Elf, symbols: Symbols, members: np.ndarray):
        self._kind = kind
        self._elf = elf
        self._symbols = symbols
        self.link_map: LinkMap | None = None
        self.ranges = Ranges(symbols.value[members], symbols.ends()[members])
        self._member = members[self.ranges.order]  # the symbols of group 0 first

    def symbol_name(self, group: int) -> bytes:
        return self.symbol_names(np.array([group]))[0]

    def symbol_names(self, groups: np.ndarray) -> list[bytes]:
        return self._symbols.names.some(self._chosen(groups))

    def names(self, groups: np.ndarray) -> list[Name]:
        """The names of groups, in their order."""
        chosen = self._chosen(groups)
        classes = self._elf.section_classes
        return [Name(self._kind, classes[section], name, file) for section, name, file in zip(
            self._symbols.section[chosen].tolist(), self._symbols.names.some(chosen),
            self._files(chosen), strict=True)]

    def may_be_inlined(self, groups: np.ndarray) -> np.ndarray:
        """Which functions a compiler may leave out of an object that calls them, or LTO out of a
        program: those that are weak, or that other files do not see, or C++'s own (gcc's LTO makes
        those global that libstdc++.so has, too)."""
        chosen = self._chosen(groups)
        is_weak = self._symbols.bind[chosen] == constants.STB_WEAK
        is_std = np.array([bool(_OF_STD.match(name)) for name in self.symbol_names(groups)], bool)
        return is_weak | is_std | ~self._symbols.are_exported(chosen)

    def _files(self, symbols: np.ndarray) -> list[bytes]:
        """The files that tell local symbols of one name apart. The object does so better than the
        source file, which objects need not name."""
        files = self._symbols.source_files(symbols)
        if self.link_map is not None:
            static = np.flatnonzero(self._symbols.are_static(symbols))
            objects = self.link_map.objects_at(self._symbols.value[symbols[static]])
            for index, found in zip(static.tolist(), objects, strict=True):
                files[index] = found or files[index]
        return files

    def _chosen(self, groups: np.ndarray) -> np.ndarray:
        """The symbol that names each group."""
        first, count = self.ranges.sizes(groups)
        chosen = self._member[first]
        for place in np.flatnonzero(count > 1).tolist():
            members = self._member[first[place]:first[place] + count[place]]
            # Of equal ones the first in the table.
            chosen[place] = min(members.tolist(), key=self._preference)
        return chosen

    def _preference(self, row: int) -> tuple[bool, bool, int, bool, int, bytes]:
        symbols, name = self._symbols, self._symbols.names[row]
        return (bool(symbols.type[row] == constants.STT_NOTYPE), bool(symbols.size[row] == 0),
                _BIND_ORDER.get(int(symbols.bind[row]), 0), b"." in name, len(name), name)


def names_of(elf: Elf) -> SymbolNames | None:
    """The functions and data of a file; of a stripped file, those that it shares with others."""
    symbols = elf.symbols if elf.symbols is not None else elf.dynamic_symbols
    if symbols is None:
        return None
    code, data = nameable(elf, symbols)
    return SymbolNames("function", elf, symbols, np.flatnonzero(code | data))
