"""Symbol tables of ELF files: one array for each field, read on first use.

There may be 5 million symbols: nothing here makes an object for each.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from frontload.base.arrays import np
from frontload.base.intervals import are_among
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
    STV_PROTECTED,
)
from frontload.elf.contents import Contents, Source, damaged
from frontload.elf.strings import Names

# Where a symbol is, if not in a section: other values of Symbols.section.
UNDEFINED, ABSOLUTE, COMMON, ELSEWHERE = 0, -1, -2, -3


class Columns(NamedTuple):
    """The fields of a symbol table; `section` is what Symbols has by that name."""

    value: np.ndarray
    size: np.ndarray
    info: np.ndarray
    other: np.ndarray
    section: np.ndarray
    names: Names


class Symbols:
    """A symbol table: one array per field, and the names."""

    def __init__(self, read: Callable[[], Columns]):
        """`read` is called once, for the first field that is used."""
        self._read = read

    @cached_property
    def _columns(self) -> Columns:
        return self._read()

    @property
    def value(self) -> np.ndarray:
        return self._columns.value

    @property
    def size(self) -> np.ndarray:
        return self._columns.size

    @property
    def section(self) -> np.ndarray:
        return self._columns.section

    @property
    def names(self) -> Names:
        return self._columns.names

    @cached_property
    def type(self) -> np.ndarray:
        return self._columns.info & 0xf

    @cached_property
    def bind(self) -> np.ndarray:
        return self._columns.info >> 4

    @cached_property
    def _files(self) -> np.ndarray:
        return np.flatnonzero(self.type == STT_FILE)

    def in_sections(self, numbers: np.ndarray) -> "Symbols":
        """The same symbols in another file, where section i has the number `numbers[i]`."""
        def read() -> Columns:
            section = self._columns.section
            return self._columns._replace(section=np.where(
                section > 0, numbers[np.maximum(section, 0)], section))

        return Symbols(read)

    def placed(self) -> np.ndarray:
        """Which symbols are places in a section: functions, data or labels."""
        return (self.section > 0) & ~np.isin(self.type, STT_NO_PLACE)

    def placed_at(self, values: np.ndarray) -> np.ndarray:
        """The rows of the symbols that are places in a section and have one of these values."""
        rows = np.flatnonzero(are_among(self.value, np.sort(values)))
        return rows[self.placed()[rows]]

    def ends(self) -> np.ndarray:
        """One past the last address of each symbol; a size that wraps around counts as 0."""
        ends = self.value + self.size
        return np.where(ends < self.value, self.value, ends)

    def are_static(self, indexes: np.ndarray) -> np.ndarray:
        """Which were already local in their objects: linkers also make hidden symbols local."""
        return (self.bind[indexes] == STB_LOCAL) & (self._columns.other[indexes] & 3 == STV_DEFAULT)

    def are_exported(self, indexes: np.ndarray) -> np.ndarray:
        """Which other files may see: no local ones, nor hidden ones, which GNU ld leaves
        global."""
        is_visible = np.isin(self._columns.other[indexes] & 3, (STV_DEFAULT, STV_PROTECTED))
        return (self.bind[indexes] != STB_LOCAL) & is_visible

    def source_file(self, index: int) -> bytes:
        """The STT_FILE name of a static symbol, empty for others."""
        return self.source_files(np.array([index]))[0]

    def source_files(self, indexes: np.ndarray) -> list[bytes]:
        """The same for many; symbols of one file share one object."""
        found = [b""] * len(indexes)
        static = np.flatnonzero(self.are_static(indexes))
        for place, name in zip(static.tolist(), self.files_before(indexes[static]), strict=True):
            found[place] = name
        return found

    def files_before(self, indexes: np.ndarray) -> list[bytes]:
        """The STT_FILE name before each of these symbols, or nothing; one object per file."""
        before = np.searchsorted(self._files, indexes) - 1
        used, which = np.unique(before, return_inverse=True)
        names = self.names.some(self._files[used[used >= 0]])
        names = [b""] * (len(used) - len(names)) + names
        return [names[number] for number in which.tolist()]


def find_symbols(contents: Contents, source: Source, section_type: int) -> Symbols | None:
    """The first symbol table of a type, read from `source` on demand; None if the file has none."""
    tables = np.flatnonzero(contents.sections["type"] == section_type)
    if not len(tables):
        return None
    index = int(tables[0])

    def read() -> Columns:
        with source.stream() as stream:
            return _read_columns(Contents(source.path, stream), source, index)

    return Symbols(read)


def _read_columns(contents: Contents, source: Source, index: int) -> Columns:
    half, word = contents.order + "u4", contents.word
    small = [("info", "u1"), ("other", "u1"), ("shndx", contents.order + "u2")]
    if contents.is_64:
        kind = np.dtype([("name", half), *small, ("value", word), ("size", word)])
    else:
        kind = np.dtype([("name", half), ("value", half), ("size", half), *small])
    rows = contents.table(index, kind, "the symbol table")

    def strings() -> bytes:
        with source.stream() as stream:
            return Contents(source.path, stream).section(
                int(contents.sections["link"][index]), "the names of symbols")

    # Copies, each of which lies together.
    value, size, info, other, shndx, name = (
        rows[field].astype(code) for field, code in (
            ("value", "u8"), ("size", "u8"), ("info", "u1"), ("other", "u1"), ("shndx", "u2"),
            ("name", "u4")))
    return Columns(value, size, info, other, _sections_of(contents, index, shndx),
                   Names(source.path, strings, name))


def _sections_of(contents: Contents, index: int, shndx: np.ndarray) -> np.ndarray:
    """The section of each symbol of the table in section `index`."""
    sections = contents.sections
    section = shndx.astype(np.int32)
    section[shndx >= SHN_LORESERVE] = ELSEWHERE
    section[shndx == SHN_ABS] = ABSOLUTE
    section[shndx == SHN_COMMON] = COMMON
    extended = shndx == SHN_XINDEX
    if extended.any():  # more sections than the field can number: a second table has the numbers
        belongs = np.flatnonzero((sections["type"] == SHT_SYMTAB_SHNDX)
                                 & (sections["link"] == index)).tolist()
        what = "the section numbers of symbols"
        if not belongs:
            raise damaged(contents.path, f"{what} are missing")
        numbers = contents.table(belongs[0], np.dtype(contents.order + "u4"), what)
        if len(numbers) < len(shndx):
            raise damaged(contents.path, f"{what} are {len(numbers)} for {len(shndx)} symbols")
        numbers = numbers[:len(shndx)][extended]
        section[extended] = np.where(numbers < len(sections), numbers, ELSEWHERE)
    section[section >= len(sections)] = ELSEWHERE
    return section
