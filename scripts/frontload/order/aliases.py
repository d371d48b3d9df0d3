"""Symbols of the same place: constructors C1 and C2, and other aliases.

A tool that finds a section by one symbol does not always find it by the profile's.
"""

import itertools
import os
from collections.abc import Iterable, Iterator

from frontload.base import files
from frontload.base.arrays import np
from frontload.elf import archive
from frontload.elf import file as elf
from frontload.elf.symbols import Symbols
from frontload.order.request import Request
from frontload.profile.resolver import Place


class Aliases:
    """The symbols at the places of a profile, in a linked program, or in objects and archives."""

    def __init__(self, request: Request):
        self._places = request.places
        self._values = request.resolved.places.value
        self._linked = request.binary is not None
        # For places that have several names, the same list by each of them. Sections may share
        # names.
        self._names: dict[tuple[bytes, bytes, int], list[list[bytes]]] = {}
        objects_named = {place.object for place in request.resolved.places}
        for base, each in _elf_files(request.files):
            if self._linked:
                self._add(b"", each.linked_symbols())
            elif base in objects_named and each.symbols is not None:
                self._add(base, each.symbols)

    def of_each(self) -> Iterator[list[bytes]]:
        """For each entry, the names in each of its places, the place's own first."""
        return ([name for place in places for name in self._of_place(place)]
                for places in self._places)

    def _of_place(self, place: Place) -> Iterable[bytes]:
        others = self._names.get(
            (b"" if self._linked else place.object, place.symbol, place.value), ())
        return dict.fromkeys([place.symbol, *itertools.chain(*others)])

    def _add(self, base: bytes, symbols: Symbols) -> None:
        rows = symbols.placed_at(self._values)
        order = np.lexsort((rows, symbols.value[rows], symbols.section[rows]))
        rows = rows[order]
        section, value = symbols.section[rows], symbols.value[rows]
        first = np.append(True, (section[1:] != section[:-1]) | (value[1:] != value[:-1]))
        first = np.flatnonzero(first[:len(rows)])
        last = np.append(first[1:], len(rows))[:len(first)]
        several = last - first > 1
        for begin, end in zip(first[several].tolist(), last[several].tolist(), strict=True):
            names = symbols.names.some(rows[begin:end])
            for name in names:
                self._names.setdefault((base, name, int(value[begin])), []).append(names)


def _elf_files(paths: Iterable[str]) -> Iterator[tuple[bytes, elf.Elf]]:
    """Each ELF file and member of an archive, with its name in places."""
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
