"""All that a startup profile can name of a link: functions, data, input sections and strings."""

from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile
from frontload.elf import file as elves
from frontload.profile.startup_profile import Name
from frontload.profile.symbol_names import nameable

_WRITE, _ALLOC, _CODE, _MERGE, _STRINGS = 1, 2, 4, 0x10, 0x20


def names_of(linked: Path, objects: tuple[Path, ...]) -> list[Name]:
    """Of a linked file, and of the objects that it is made of."""
    found = set(_symbols(linked))
    for path in objects:
        found.update(_sections(path))
    return sorted(found)


def _symbols(linked: Path) -> Iterator[Name]:
    elf = elves.read(linked)
    symbols = elf.linked_symbols()
    for kind, members in zip(("function", "data"), nameable(elf, symbols), strict=True):
        for index in members.nonzero()[0]:
            yield Name(kind, elf.section_classes[symbols.section[index]], symbols.names[index],
                       symbols.source_file(index))


def _sections(path: Path) -> Iterator[Name]:
    with path.open("rb") as stream:
        if stream.read(4) != b"\x7fELF":
            return  # bitcode, or an archive
        for section in ELFFile(stream).iter_sections():
            flags = section["sh_flags"]
            if not flags & _ALLOC or not section["sh_size"]:
                continue
            yield Name("section", _class_of(section), section.name.encode(), path.name.encode())
            if flags & _MERGE and flags & _STRINGS and section["sh_entsize"] == 1:
                for text in section.data().split(b"\0"):
                    if text:
                        yield Name("string", "rodata", text)


def _class_of(section) -> str:
    flags = section["sh_flags"]
    if flags & _CODE:
        return "text"
    if section["sh_type"] == "SHT_NOBITS":
        return "bss"
    if section.name.startswith((".data.rel.ro", ".init_array", ".fini_array")):
        return "relro"
    return "data" if flags & _WRITE else "rodata"
