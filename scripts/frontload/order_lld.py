"""Order files for lld's --symbol-ordering-file.

lld reads one name a line, strips white space from both ends, and passes over empty lines and lines
that start with `#`; so a name with any of that in it cannot be written. It orders whole input
sections, of functions and of data alike, but knows them by symbols: the sections and strings of a
profile have none. Of a name with a version (`name@@VERSION`, by .symver) it knows only what is
before the @.

It warns about a name that stands twice, that it does not know, or that it cannot order because the
symbol is undefined, absolute, made by itself, or in a shared library; so such names are left out.
What cannot be seen here are namesakes: for a static function that another object has too, in a
section that --gc-sections drops, lld orders the one and warns about the other.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from frontload import archive, elf, errors, files
from frontload.profile import Profile

_WHITE_SPACE = b" \t\n\v\f\r"  # what lld strips
# Other linkers give these a type, as if they were data of the program.
_MADE_BY_LLD = {b"_DYNAMIC", b"_GLOBAL_OFFSET_TABLE_", b"_PROCEDURE_LINKAGE_TABLE_"}
_NO_BITCODE = "objects for LTO have no symbols yet: give the linked program with --binary"


@dataclass(frozen=True)
class Order:
    names: list[bytes]
    wanted: int  # different names of symbols in the profile
    refused: int  # names that cannot be written


def make(profile: Profile, known: set[bytes] | None) -> Order:
    """The names of a profile in first-touch order, of which lld knows `known` (None: any)."""
    wanted = dict.fromkeys(_known_to_lld(name.name) for name, _ in profile.in_order()
                           if name.has_symbol)
    writable = [name for name in wanted if _writable(name)]
    names = [name for name in writable if known is None or name in known]
    return Order(names, len(wanted), len(wanted) - len(writable))


def _known_to_lld(name: bytes) -> bytes:
    return name.partition(b"@")[0] or name


def _writable(name: bytes) -> bool:
    return name == name.strip(_WHITE_SPACE) and not name.startswith(b"#") and b"\n" not in name


def names_in_binary(path: str) -> set[bytes]:
    """The names that a linked file defines, and no shared library with it.

    A program exports what a shared library defines too, or refers to, which nothing here tells
    apart. One that exports even `_start` was linked to export everything, which says nothing.
    """
    linked = elf.read(path, note="give the program as it was linked last")
    names = _defined(linked.linked_symbols())
    exported = _defined(linked.dynamic_symbols)
    return names if b"_start" in exported or b"_start" not in names else names - exported


def names_in_objects(paths: Iterable[str]) -> set[bytes]:
    """The names that some objects and archives define."""
    names: set[bytes] = set()
    for path in paths:
        with files.open_input(path) as stream:
            is_archive = stream.read(len(archive.MAGIC)) in (archive.MAGIC, archive.THIN_MAGIC)
        if not is_archive:
            names |= _defined(elf.read(path, note=_NO_BITCODE).symbols)
            continue
        unknown = 0
        for member, data in archive.members(path):
            if data.startswith(b"\x7fELF"):
                names |= _defined(elf.parse(member, data).symbols)
            else:
                unknown += 1
        if unknown:
            errors.warning(f"{path}: {errors.count(unknown, 'member')} not ELF; {_NO_BITCODE}")
    return names


def _defined(symbols: elf.Symbols | None) -> set[bytes]:
    if symbols is None:
        return set()
    in_section = (symbols.section > 0) | (symbols.section == elf.COMMON)
    defined = in_section & ~np.isin(symbols.type, (elf.STT_SECTION, elf.STT_FILE))
    names = symbols.names.some(np.flatnonzero(defined))
    return {_known_to_lld(name) for name in names} - _MADE_BY_LLD
