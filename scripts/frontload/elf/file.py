"""Reads ELF files: sections and their classes, symbols, the build-id.

The symbols of a stripped program come from its debug file, if that is found (debug_file.py).
contents.py reads the file's bytes, and symbols.py the symbol tables on demand. loading.py reads the
loader's tables, which few modules need.
"""

import os
from dataclasses import dataclass, replace

from elftools.elf.segments import NoteSegment

from frontload.base import files
from frontload.base.arrays import np
from frontload.base.errors import BadData, Failure
from frontload.elf import debug_file
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
from frontload.elf.symbols import ELSEWHERE, Symbols, find_symbols

_LINK = b".gnu_debuglink"


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
    debug: "Elf | None" = None  # the file that the symbols are from, if the program is stripped
    is_debug_file: bool = False  # no program, but its symbols

    def linked_symbols(self, give: str = "give the copy from before strip") -> Symbols:
        """The symbols of a file, which must be linked and not stripped; `give` says how to get
        one."""
        if not self.linked:
            raise BadData(self.path, "is an object, not a program or shared library", note=REMEDY)
        if self.is_debug_file:
            raise BadData(self.path, "has only the debug information of a program",
                          note="give the program itself, also if it is stripped: its debug "
                          "information is found by build-id or .gnu_debuglink")
        if self.symbols is None:
            raise BadData(self.path, "is stripped: it has no symbol table",
                          note=f"{give}: record and check, then strip; or install its debug "
                          "information, beside it or in /usr/lib/debug")
        return self.symbols


def read(path: os.PathLike[str] | str, note: str = REMEDY) -> Elf:
    """Reads an ELF file; raises BadData if it is none, or is damaged."""
    source = Source(path, note)
    with source.stream() as stream:
        contents = Contents(source.path, stream, source.note)
        found = _elf(contents, source)
        if not found.linked or found.symbols is not None:
            return found
        link = found.section_names.index(_LINK) if _LINK in found.section_names else 0
        named = contents.section(link, "the name of the debug file") if link else b""
    for each in debug_file.candidates(source.path, found.build_id, named):
        try:
            debug = _open(Source(each))
        except Failure:
            continue  # as debuggers do
        if debug.build_id == found.build_id and debug.linked and debug.symbols is not None:
            return joined(found, debug)
    return found


def joined(program: Elf, debug: Elf) -> Elf:
    """A stripped program with the symbols of its debug file."""
    places = {(name, int(section["addr"])): number for number, (name, section)
              in enumerate(zip(program.section_names, program.sections, strict=True))
              if section["flags"] & SHF_ALLOC}
    numbers = np.array([places.get((name, int(section["addr"])), ELSEWHERE) for name, section
                        in zip(debug.section_names, debug.sections, strict=True)], np.int32)
    assert debug.symbols is not None
    return replace(program, symbols=debug.symbols.in_sections(numbers), debug=debug)


def parse(path: str, data: bytes) -> Elf:
    """Reads an ELF file that is in memory, such as a member of an archive."""
    return _open(Source(path, data=data))


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


def _open(source: Source) -> Elf:
    with source.stream() as stream:
        return _elf(Contents(source.path, stream, source.note), source)


def _elf(contents: Contents, source: Source) -> Elf:
    sections = contents.sections
    linked = contents.headers.header["e_type"] in ("ET_EXEC", "ET_DYN")
    is_debug_file = linked and debug_file.is_debug_file(contents)
    build_id, relro, segments = contents.checked(lambda: _segments(contents, is_debug_file))
    if is_debug_file:
        build_id = contents.checked(lambda: debug_file.build_id_of(contents))
    return Elf(path=contents.path,
               linked=linked,
               build_id=build_id,
               sections=sections,
               section_names=_section_names(contents),
               section_classes=_classes(sections, relro),
               symbols=find_symbols(contents, source, SHT_SYMTAB),
               dynamic_symbols=find_symbols(contents, source, SHT_DYNSYM),
               segments=segments,
               is_debug_file=is_debug_file)


def _section_names(contents: Contents) -> list[bytes]:
    sections = contents.sections
    index = contents.headers.header["e_shstrndx"]
    if index == SHN_XINDEX and len(sections):
        index = int(sections["link"][0])
    if index == 0 or not len(sections):
        return [b""] * len(sections)
    table = contents.section(index, "the names of sections")
    return Names(contents.path, lambda: table, sections["name"]).all()


def _segments(contents: Contents, is_debug_file: bool
              ) -> tuple[bytes, tuple[int, int], tuple[LoadSegment, ...]]:
    """The build-id; the addresses that become read-only after relocation, first and one behind the
    last; and the segments that are loaded. Those of a debug file describe the program."""
    build_id, relro, loaded = b"", (0, 0), []
    for segment in contents.headers.iter_segments():
        if isinstance(segment, NoteSegment) and not build_id and not is_debug_file:
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
