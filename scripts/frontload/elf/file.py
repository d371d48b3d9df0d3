"""Reads ELF files: sections and their classes, symbols, the build-id.

contents.py reads the file's bytes, and symbols.py the symbol tables on demand. loading.py reads the
loader's tables, which few modules need.
"""

import os
from dataclasses import dataclass

import numpy as np
from elftools.elf.segments import NoteSegment

from frontload.base import files
from frontload.base.errors import BadData
from frontload.elf.constants import (
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHN_XINDEX,
    SHT_DYNSYM,
    SHT_NOBITS,
    SHT_SYMTAB,
)
from frontload.elf.contents import REMEDY, Contents, Source, damaged
from frontload.elf.strings import Names
from frontload.elf.symbols import Symbols, find_symbols


@dataclass(frozen=True)
class LoadSegment:
    """A part of a linked file that is loaded (PT_LOAD)."""

    address: int
    offset: int
    file_bytes: int
    memory_bytes: int
    flags: str  # as r-x


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
    symbols: Symbols | None  # None if stripped
    dynamic_symbols: Symbols | None = None  # no substitute: only symbols shared with other files
    segments: tuple[LoadSegment, ...] = ()

    def linked_symbols(self, give: str = "give the copy from before strip") -> Symbols:
        """The symbols of a file, which must be linked and not stripped; `give` says how to get
        one."""
        if not self.linked:
            raise BadData(self.path, "is an object, not a program or shared library", note=REMEDY)
        if self.symbols is None:
            raise BadData(self.path, "is stripped: it has no symbol table",
                          note=f"{give}: record and check, then strip")
        return self.symbols


def read(path: os.PathLike[str] | str, note: str = REMEDY) -> Elf:
    """Reads an ELF file; raises BadData if it is none, or is damaged."""
    return _elf(Source(path, note))


def parse(path: str, data: bytes) -> Elf:
    """Reads an ELF file that is in memory, such as a member of an archive."""
    return _elf(Source(path, data=data))


def read_range(elf: Elf, section: int, address: int, size: int) -> bytes:
    """The bytes at an address in a section; empty if the section has none in the file."""
    header = elf.sections[section]
    if header["type"] == SHT_NOBITS:
        return b""
    offset = int(header["offset"]) + address - int(header["addr"])
    with files.open_input(elf.path, REMEDY) as stream:
        if offset + size > os.fstat(stream.fileno()).st_size:
            raise damaged(elf.path, f"a section of {int(header['size'])} bytes runs past the end "
                          "of the file", offset=int(header["offset"]))
        stream.seek(offset)
        return stream.read(size)


def _elf(source: Source) -> Elf:
    with source.stream() as stream:
        contents = Contents(source.path, stream, source.note)
        sections = contents.sections
        build_id, relro, segments = contents.checked(lambda: _segments(contents))
        return Elf(path=contents.path,
                   linked=contents.headers.header["e_type"] in ("ET_EXEC", "ET_DYN"),
                   build_id=build_id,
                   sections=sections,
                   section_names=_section_names(contents),
                   section_classes=_classes(sections, relro),
                   symbols=find_symbols(contents, source, SHT_SYMTAB),
                   dynamic_symbols=find_symbols(contents, source, SHT_DYNSYM),
                   segments=segments)


def _section_names(contents: Contents) -> list[bytes]:
    sections = contents.sections
    index = contents.headers.header["e_shstrndx"]
    if index == SHN_XINDEX and len(sections):
        index = int(sections["link"][0])
    if index == 0 or not len(sections):
        return [b""] * len(sections)
    table = contents.section(index, "the names of sections")
    return Names(contents.path, lambda: table, sections["name"]).all()


def _segments(contents: Contents) -> tuple[bytes, tuple[int, int], tuple[LoadSegment, ...]]:
    """The build-id; the addresses that become read-only after relocation, first and one behind the
    last; and the segments that are loaded."""
    build_id, relro, loaded = b"", (0, 0), []
    for segment in contents.headers.iter_segments():
        if isinstance(segment, NoteSegment) and not build_id:
            build_id = next((bytes.fromhex(note["n_desc"]) for note in segment.iter_notes()
                             if note["n_type"] == "NT_GNU_BUILD_ID"), b"")
        elif segment["p_type"] == "PT_GNU_RELRO" and relro == (0, 0):
            relro = segment["p_vaddr"], segment["p_vaddr"] + segment["p_memsz"]
        elif segment["p_type"] == "PT_LOAD":
            loaded.append(LoadSegment(
                segment["p_vaddr"], segment["p_offset"], segment["p_filesz"], segment["p_memsz"],
                "".join(letter if segment["p_flags"] & bit else "-"
                        for letter, bit in (("r", 4), ("w", 2), ("x", 1)))))
    return build_id, relro, tuple(loaded)


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
