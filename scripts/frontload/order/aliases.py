"""Names of the same place: constructors C1 and C2, and other aliases.

A tool that knows a section by one name does not always know it by the one that a profile has.
"""

import os
from collections.abc import Iterable, Iterator

import numpy as np

from frontload.base import files
from frontload.elf import archive
from frontload.elf import file as elf
from frontload.elf.symbols import Symbols
from frontload.profile.resolver import Place


class Aliases:
    """Of a linked program, or of objects and archives, the names in the places of a profile."""

    def __init__(self, binary: str | None, objects: Iterable[str], places: Iterable[Place]):
        self._linked = binary is not None
        self._names: dict[tuple, list[bytes]] = {self._key(place): [] for place in places}
        objects_named = {place.object for place in places}
        for base, each in _elf_files([binary] if self._linked else objects):
            if self._linked:
                self._add(b"", each.linked_symbols())
            elif base in objects_named and each.symbols is not None:
                self._add(base, each.symbols)

    def of(self, place: Place) -> list[bytes]:
        """The names in a place, its own first."""
        return list(dict.fromkeys([place.symbol, *self._names[self._key(place)]]))

    def _key(self, place: Place) -> tuple[bytes, bytes, int]:
        return b"" if self._linked else place.object, place.symbol, place.value

    def _add(self, base: bytes, symbols: Symbols) -> None:
        defined = np.flatnonzero(symbols.placed())
        together: dict[tuple[int, int], list[bytes]] = {}
        for name, *where in zip(symbols.names.some(defined), symbols.section[defined].tolist(),
                                symbols.value[defined].tolist(), strict=True):
            together.setdefault(tuple(where), []).append(name)
        for (_, value), names in together.items():
            for name in names:
                known = self._names.get((base, name, value))
                if known is not None:
                    known += names


def _elf_files(paths: Iterable[str]) -> Iterator[tuple[bytes, elf.Elf]]:
    """Each ELF file and member of an archive, with the name that places have for it."""
    for path in paths:
        base = os.path.basename(path)
        with files.open_input(path) as stream:
            is_archive = stream.read(len(archive.MAGIC)) in (archive.MAGIC, archive.THIN_MAGIC)
        if not is_archive:
            yield os.fsencode(base), elf.read(path)
            continue
        for member, data in archive.members(path):
            if data.startswith(b"\x7fELF"):
                name = os.path.basename(member[len(path) + 1:-1])
                yield os.fsencode(f"{base}({name})"), elf.parse(member, data)
