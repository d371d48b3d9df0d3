"""Reads ELF files: sections, symbols, the build-id and what the loader works from.

pyelftools reads what is small and has many forms: the ELF header, the program headers, the notes.
The tables that grow with the program, section headers, symbols and relocations, are read here as
numpy arrays: a large program has 200,000 symbols, and one Python object for each takes seconds.

Nothing in the file is trusted: every table must lie inside the file, every index inside its table.
"""

import functools
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from elftools.elf.elffile import ELFFile

from frontload.base import files
from frontload.base.errors import BadData

SHT_SYMTAB, SHT_RELA, SHT_HASH, SHT_DYNAMIC, SHT_NOBITS, SHT_REL = 2, 4, 5, 6, 8, 9
SHT_DYNSYM, SHT_SYMTAB_SHNDX, SHT_RELR, SHT_GNU_HASH = 11, 18, 19, 0x6ffffff6
SHT_ARRAYS = 14, 15, 16  # .init_array, .fini_array and .preinit_array
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE = 0, 1, 2, 3, 4
STT_TLS, STT_GNU_IFUNC = 6, 10
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2

# Where a symbol is, if not in a section: values of Symbols.section besides section numbers.
UNDEFINED, ABSOLUTE, COMMON, ELSEWHERE = 0, -1, -2, -3

_STV_DEFAULT = 0
_SHN_LORESERVE, _SHN_ABS, _SHN_COMMON, _SHN_XINDEX = 0xff00, 0xfff1, 0xfff2, 0xffff
_NO_RELRO = (0, 0)
_REMEDY = "give the program or shared library that the linker wrote"
_damaged = functools.partial(BadData, note="it is damaged, or not all of it was written: link it "
                             "again")
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
            raise _damaged(path, f"{total} bytes of names in a string table of {len(table)} bytes")

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

    def ends(self) -> np.ndarray:
        """One behind the last address of each symbol; a size that wraps around counts as none."""
        ends = self.value + self.size
        return np.where(ends < self.value, self.value, ends)

    def is_static(self, index: int) -> bool:
        """Whether a symbol was local in its object, too: linkers also make hidden symbols local."""
        return bool(self.bind[index] == STB_LOCAL and self._visibility[index] == _STV_DEFAULT)

    def source_file(self, index: int) -> bytes:
        """The STT_FILE name of a static symbol, empty for others."""
        if not self.is_static(index):
            return b""
        position = int(np.searchsorted(self._files, index)) - 1
        return self.names[self._files[position]] if position >= 0 else b""


@dataclass(frozen=True)
class Elf:
    """One ELF file. A section has a number, which is its place in `sections`, `section_names` and
    `section_classes`; the class is empty if the section is not loaded."""

    path: str
    linked: bool  # a program or shared library, not an object
    build_id: bytes  # empty if there is none
    sections: np.ndarray
    section_names: list[bytes]
    section_classes: list[str]
    symbols: Symbols | None  # None if it was stripped
    dynamic_symbols: Symbols | None = None  # no substitute: only what is shared with other files

    def linked_symbols(self) -> Symbols:
        """The symbols of a file that has to be linked and not stripped."""
        if not self.linked:
            raise BadData(self.path, "is an object, not a program or shared library", note=_REMEDY)
        if self.symbols is None:
            raise BadData(self.path, "is stripped: it has no symbol table",
                          note="give the copy from before strip: record and check, then strip")
        return self.symbols


class Relocations:
    """The relocations of the loader that are not packed: one array per field. A section of them
    that is not loaded is of the linker's making, for other tools, and not among them."""

    def __init__(self, tables: list[np.ndarray]):
        def all_of(field: str, kind: str) -> np.ndarray:
            return np.concatenate([np.empty(0, kind), *(table[field].astype(kind)
                                                        for table in tables)])

        # The symbol and the type share a field, split at 32 bits or, in 32-bit files, at 8.
        info = all_of("info", "u8")
        shift = np.repeat([32 if table["info"].itemsize == 8 else 8 for table in tables],
                          [len(table) for table in tables]).astype("u8")
        self.offset = all_of("offset", "u8")
        self.symbol = (info >> shift).astype("u4")
        self.type = (info & ((np.uint64(1) << shift) - np.uint64(1))).astype("u4")
        self.size = np.repeat([table.dtype.itemsize for table in tables],
                              [len(table) for table in tables]).astype("u1")


@dataclass(frozen=True)
class Loading:
    """What the loader of a program or shared library works from."""

    machine: str  # as pyelftools names it, EM_X86_64
    word: int  # bytes of an address
    fixed: bool  # a program that has to be at its addresses
    has_interpreter: bool
    dynamic: dict[int, int]  # by tag; empty in a static program
    relocations: Relocations
    packed: np.ndarray  # the words of DT_RELR


@dataclass(frozen=True)
class Start:
    """Where a program begins to run."""

    entry: int  # 0 if it is a shared library that cannot be run
    fixed: bool  # it has to be at its addresses
    has_interpreter: bool  # the loader runs before it


def read(path: os.PathLike | str, note: str = _REMEDY) -> Elf:
    """Reads an ELF file; what is none, or is damaged, raises BadData."""
    with files.open_input(path, note) as stream:
        return _Reader(os.fspath(path), stream, note).read()


def read_range(elf: Elf, section: int, address: int, size: int) -> bytes:
    """The bytes at an address in a section; empty if the section has none in the file."""
    header = elf.sections[section]
    if header["type"] == SHT_NOBITS:
        return b""
    offset = int(header["offset"]) + address - int(header["addr"])
    with files.open_input(elf.path, _REMEDY) as stream:
        if offset + size > os.fstat(stream.fileno()).st_size:
            raise _damaged(elf.path, f"a section of {int(header['size'])} bytes runs past the end "
                           "of the file", offset=int(header["offset"]))
        stream.seek(offset)
        return stream.read(size)


def parse(path: str, data: bytes) -> Elf:
    """Reads an ELF file that is in memory, such as a member of an archive."""
    return _Reader(path, io.BytesIO(data), _REMEDY).read()


def read_loading(path: os.PathLike | str) -> Loading:
    """Reads what the loader works from; what is damaged raises BadData."""
    with files.open_input(path, _REMEDY) as stream:
        return _Reader(os.fspath(path), stream, _REMEDY).loading()


def read_start(path: os.PathLike | str) -> Start:
    """Reads where a program begins; what is damaged raises BadData."""
    with files.open_input(path, _REMEDY) as stream:
        return _Reader(os.fspath(path), stream, _REMEDY).start()


def parse_loading(path: str, data: bytes) -> Loading:
    """The same of a file that is in memory."""
    return _Reader(path, io.BytesIO(data), _REMEDY).loading()


class _Reader:
    def __init__(self, path: str, stream: BinaryIO, note: str):
        self._path = path
        self._stream = stream
        self._file_size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        if stream.read(4) != b"\x7fELF":
            raise BadData(path, "not an ELF file", offset=0, note=note)
        stream.seek(0)
        self._elf = self._checked(lambda: ELFFile(stream))
        self._order = "<" if self._elf.little_endian else ">"
        self._word = self._order + ("u8" if self._elf.elfclass == 64 else "u4")

    def _checked(self, parse: Callable):
        try:
            return parse()
        except Exception as problem:
            # On damaged files pyelftools fails with whatever its parts fail with: its own errors,
            # construct's, AssertionError, UnicodeDecodeError, OverflowError, MemoryError.
            reason = str(problem) or type(problem).__name__
            raise _damaged(self._path, f"not a readable ELF file: {reason}") from problem

    def read(self) -> Elf:
        sections = self._sections()
        return Elf(path=self._path,
                   linked=self._elf.header["e_type"] in ("ET_EXEC", "ET_DYN"),
                   build_id=self._checked(self._build_id),
                   sections=sections,
                   section_names=self._section_names(sections),
                   section_classes=_classes(sections, self._checked(self._relro)),
                   symbols=self._symbols(sections, SHT_SYMTAB),
                   dynamic_symbols=self._symbols(sections, SHT_DYNSYM))

    def loading(self) -> Loading:
        sections = self._sections()
        loaded = (sections["flags"] & SHF_ALLOC) != 0

        def tables(section_type: int, *fields: str) -> list[np.ndarray]:
            kind = np.dtype([(field, self._word) for field in fields])
            return [self._table(sections, index, kind, "a table of the loader")
                    for index in np.flatnonzero(loaded & (sections["type"] == section_type))]

        # Tables that overlap can be together many times as large as the file.
        ours = loaded & np.isin(sections["type"], (SHT_RELA, SHT_REL, SHT_RELR, SHT_DYNAMIC))
        total = sum(sections["size"][ours].tolist())
        if total > self._file_size:
            raise _damaged(self._path, f"{total} bytes of tables of the loader in a file of "
                           f"{self._file_size} bytes")
        dynamic = {tag: value for table in tables(SHT_DYNAMIC, "tag", "value")
                   for tag, value in table.tolist()}
        return Loading(
            machine=str(self._elf.header["e_machine"]), word=np.dtype(self._word).itemsize,
            fixed=self._is_fixed(), has_interpreter=self._checked(self._has_interpreter),
            dynamic=dynamic,
            relocations=Relocations([*tables(SHT_RELA, "offset", "info", "addend"),
                                     *tables(SHT_REL, "offset", "info")]),
            packed=np.concatenate([np.empty(0, "u8"), *(table["word"].astype("u8") for table
                                                        in tables(SHT_RELR, "word"))]))

    def start(self) -> Start:
        return Start(int(self._elf.header["e_entry"]), self._is_fixed(),
                     self._checked(self._has_interpreter))

    def _is_fixed(self) -> bool:
        return self._elf.header["e_type"] == "ET_EXEC"

    def _has_interpreter(self) -> bool:
        return any(segment["p_type"] == "PT_INTERP" for segment in self._elf.iter_segments())

    def _bytes(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > self._file_size:
            raise _damaged(self._path, f"{what} of {size} bytes runs past the end of the file",
                           offset=offset)
        self._stream.seek(offset)
        data = self._stream.read(size)
        if len(data) < size:
            raise _damaged(self._path, "became shorter while it was read",
                           offset=offset + len(data))
        return data

    def _contents(self, sections: np.ndarray, index: int, what: str) -> bytes:
        if index >= len(sections):
            raise _damaged(self._path, f"{what}: there is no section {index}")
        section = sections[index]
        if section["type"] == SHT_NOBITS:
            return b""
        return self._bytes(int(section["offset"]), int(section["size"]), what)

    def _table(self, sections: np.ndarray, index: int, kind: np.dtype, what: str) -> np.ndarray:
        data = self._contents(sections, index, what)
        if len(data) % kind.itemsize:
            raise _damaged(self._path, f"{what} of {len(data)} bytes is not made of entries of "
                           f"{kind.itemsize} bytes", offset=int(sections["offset"][index]))
        return np.frombuffer(data, kind)

    def _sections(self) -> np.ndarray:
        half = self._order + "u4"
        kind = np.dtype([("name", half), ("type", half), ("flags", self._word),
                         ("addr", self._word), ("offset", self._word), ("size", self._word),
                         ("link", half), ("info", half), ("align", self._word),
                         ("entsize", self._word)])
        header = self._elf.header
        offset, count = header["e_shoff"], header["e_shnum"]
        if offset == 0:
            return np.empty(0, kind)
        if header["e_shentsize"] != kind.itemsize:
            raise _damaged(self._path, f"section headers of {header['e_shentsize']} bytes, not of "
                           f"{kind.itemsize}", offset=offset)
        if count == 0:  # too many for this field: the size of section 0 is the number
            data = self._bytes(offset, kind.itemsize, "the first section header")
            count = int(np.frombuffer(data, kind)["size"][0])
        return np.frombuffer(self._bytes(offset, count * kind.itemsize, "section headers"), kind)

    def _section_names(self, sections: np.ndarray) -> list[bytes]:
        index = self._elf.header["e_shstrndx"]
        if index == _SHN_XINDEX and len(sections):
            index = int(sections["link"][0])
        if index == 0 or not len(sections):
            return [b""] * len(sections)
        table = self._contents(sections, index, "the names of sections")
        return Names(self._path, table, sections["name"]).all()

    def _build_id(self) -> bytes:
        for segment in self._elf.iter_segments():
            if segment["p_type"] == "PT_NOTE":
                for note in segment.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        return bytes.fromhex(note["n_desc"])
        return b""

    def _relro(self) -> tuple[int, int]:
        """The addresses that become read-only after relocation: first, and one behind the last."""
        for segment in self._elf.iter_segments():
            if segment["p_type"] == "PT_GNU_RELRO":
                return segment["p_vaddr"], segment["p_vaddr"] + segment["p_memsz"]
        return _NO_RELRO

    def _symbols(self, sections: np.ndarray, section_type: int) -> Symbols | None:
        tables = np.flatnonzero(sections["type"] == section_type)
        if not len(tables):
            return None
        index = int(tables[0])
        half, small = self._order + "u4", [("info", "u1"), ("other", "u1"),
                                           ("shndx", self._order + "u2")]
        if self._elf.elfclass == 64:
            kind = np.dtype([("name", half), *small, ("value", self._word), ("size", self._word)])
        else:
            kind = np.dtype([("name", half), ("value", half), ("size", half), *small])
        table = self._table(sections, index, kind, "the symbol table")
        strings = self._contents(sections, int(sections["link"][index]), "the names of symbols")
        return Symbols(table, self._symbol_sections(sections, index, table["shndx"]),
                       Names(self._path, strings, table["name"]))

    def _symbol_sections(self, sections: np.ndarray, index: int, shndx: np.ndarray) -> np.ndarray:
        section = shndx.astype(np.int64)
        section[shndx >= _SHN_LORESERVE] = ELSEWHERE
        section[shndx == _SHN_ABS] = ABSOLUTE
        section[shndx == _SHN_COMMON] = COMMON
        extended = shndx == _SHN_XINDEX
        if extended.any():  # more sections than the field can number: a second table has them
            belongs = (sections["type"] == SHT_SYMTAB_SHNDX) & (sections["link"] == index)
            what = "the section numbers of symbols"
            if not belongs.any():
                raise _damaged(self._path, f"{what} are missing")
            number = np.dtype(self._order + "u4")
            numbers = self._table(sections, int(np.argmax(belongs)), number, what)
            if len(numbers) < len(shndx):
                raise _damaged(self._path, f"{what} are {len(numbers)} for {len(shndx)} symbols")
            section[extended] = numbers[:len(shndx)][extended]
        section[section >= len(sections)] = ELSEWHERE
        return section


def _classes(sections: np.ndarray, relro: tuple[int, int]) -> list[str]:
    classes = []
    for flags, kind, address in zip(sections["flags"].tolist(), sections["type"].tolist(),
                                    sections["addr"].tolist(), strict=True):
        if not flags & SHF_ALLOC:
            classes.append("")
        elif flags & SHF_EXECINSTR:
            classes.append("text")
        elif not flags & SHF_WRITE:
            classes.append("rodata")
        elif relro[0] <= address < relro[1]:
            classes.append("relro")
        else:
            classes.append("bss" if kind == SHT_NOBITS else "data")
    return classes
