"""Symbol tables of ELF files, and the names in their string tables."""

import numpy as np

from frontload.elf.constants import (
    SHN_ABS,
    SHN_COMMON,
    SHN_LORESERVE,
    SHN_XINDEX,
    SHT_SYMTAB_SHNDX,
    STB_LOCAL,
    STT_FILE,
    STT_NO_PLACE,
    STV_DEFAULT,
)
from frontload.elf.contents import Contents, damaged

# Where a symbol is, if not in a section: values of Symbols.section besides section numbers.
UNDEFINED, ABSOLUTE, COMMON, ELSEWHERE = 0, -1, -2, -3

# Names that overlap can be many times as large as their table, so that reading them would take all
# memory. Linkers share the ends of names, which is far from this many times as large.
_NAME_OVERLAP = 8


class Names:
    """Names in a string table: name i starts at `offsets[i]`."""

    def __init__(self, path: str, table: bytes, offsets: np.ndarray):
        self._table = table
        ends = np.append(np.flatnonzero(np.frombuffer(table, np.uint8) == 0), len(table))
        self._starts = np.minimum(offsets.astype(np.int64), len(table))
        self._ends = ends[np.searchsorted(ends, self._starts)]
        total = int(self.lengths().sum())
        if total > _NAME_OVERLAP * (len(table) + 16 * len(offsets)):
            raise damaged(path, f"{total} bytes of names in a string table of {len(table)} bytes")

    def lengths(self) -> np.ndarray:
        return self._ends - self._starts

    def any_begins(self, start: bytes) -> bool:
        """Whether a name begins so; of a million that do not, it takes no time to say."""
        return start in self._table and any(name.startswith(start) for name in self.all())

    def __getitem__(self, index: int) -> bytes:
        return self._table[self._starts[index]:self._ends[index]]

    def some(self, indexes: np.ndarray) -> list[bytes]:
        return [self._table[start:end] for start, end in
                zip(self._starts[indexes].tolist(), self._ends[indexes].tolist(), strict=True)]

    def all(self) -> list[bytes]:
        return self.some(np.arange(len(self._starts)))


class Symbols:
    """A symbol table: one array per field, and the names."""

    def __init__(self, table: np.ndarray, section: np.ndarray, names: Names):
        self.value = table["value"].astype(np.uint64)
        self.size = table["size"].astype(np.uint64)
        self.type = table["info"] & 0xf
        self.bind = table["info"] >> 4
        self.section = section
        self.names = names
        self._visibility = table["other"] & 3
        self._files = np.flatnonzero(self.type == STT_FILE)

    def placed(self) -> np.ndarray:
        """Which symbols are a place in a section: a function, a datum or a label."""
        return (self.section > 0) & ~np.isin(self.type, STT_NO_PLACE)

    def ends(self) -> np.ndarray:
        """One behind the last address of each symbol; a size that wraps around counts as none."""
        ends = self.value + self.size
        return np.where(ends < self.value, self.value, ends)

    def is_static(self, index: int) -> bool:
        """Whether a symbol was local in its object, too: linkers also make hidden symbols local."""
        return bool(self.bind[index] == STB_LOCAL and self._visibility[index] == STV_DEFAULT)

    def source_file(self, index: int) -> bytes:
        """The STT_FILE name of a static symbol, empty for others."""
        if not self.is_static(index):
            return b""
        position = int(np.searchsorted(self._files, index)) - 1
        return self.names[self._files[position]] if position >= 0 else b""


def read_symbols(contents: Contents, section_type: int) -> Symbols | None:
    """The first symbol table of a type; None if the file has none."""
    sections = contents.sections
    tables = np.flatnonzero(sections["type"] == section_type)
    if not len(tables):
        return None
    index = int(tables[0])
    half, word = contents.order + "u4", contents.word
    small = [("info", "u1"), ("other", "u1"), ("shndx", contents.order + "u2")]
    if contents.is_64:
        kind = np.dtype([("name", half), *small, ("value", word), ("size", word)])
    else:
        kind = np.dtype([("name", half), ("value", half), ("size", half), *small])
    table = contents.table(index, kind, "the symbol table")
    strings = contents.section(int(sections["link"][index]), "the names of symbols")
    return Symbols(table, _sections_of(contents, index, table["shndx"]),
                   Names(contents.path, strings, table["name"]))


def _sections_of(contents: Contents, index: int, shndx: np.ndarray) -> np.ndarray:
    """The section of each symbol of the table in section `index`."""
    sections = contents.sections
    section = shndx.astype(np.int64)
    section[shndx >= SHN_LORESERVE] = ELSEWHERE
    section[shndx == SHN_ABS] = ABSOLUTE
    section[shndx == SHN_COMMON] = COMMON
    extended = shndx == SHN_XINDEX
    if extended.any():  # more sections than the field can number: a second table has them
        belongs = (sections["type"] == SHT_SYMTAB_SHNDX) & (sections["link"] == index)
        what = "the section numbers of symbols"
        if not belongs.any():
            raise damaged(contents.path, f"{what} are missing")
        numbers = contents.table(int(np.argmax(belongs)), np.dtype(contents.order + "u4"), what)
        if len(numbers) < len(shndx):
            raise damaged(contents.path, f"{what} are {len(numbers)} for {len(shndx)} symbols")
        section[extended] = numbers[:len(shndx)][extended]
    section[section >= len(sections)] = ELSEWHERE
    return section
