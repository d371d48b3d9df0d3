"""Looks up the names of a startup profile in a link: asks frontload-resolve.

One place, lldplugin/names, decides how a name is found in another build than the recorded one:
exactly, or except for a suffix, a clone, a constructor's variant or a hash. The linkers use it as
well. tools/resolve/resolved_lines.h describes the output of frontload-resolve.

There may be more files than a command line can hold, and a million lines of output, one for each
name: so the files are in a response file, and the lines are kept as columns.
"""

import itertools
import os
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frontload.base import errors, response_files
from frontload.base.tools import ask
from frontload.profile.format import unescape
from frontload.profile.startup_profile import Name

_RESOLVER = "frontload-resolve"
_HEADER = b"frontload-resolve 2"
_FIELDS, _UNMOVABLE = 8, b"unmovable\t"  # of a line with a place; of a line with none
_PIECE = 1 << 20  # bytes of output that are parsed at a time
_MAX_WORDS = 100_000  # bytes of a command line; Linux allows some 2 million, 128 KiB in one word


class Place(NamedTuple):
    """One place that an entry of a profile stands for."""

    entry: int  # its number in the profile, from 0
    how: str  # how its name was found: exact, suffix, clone, variant, hash or part
    object: bytes  # base name of the file, or archive(member)
    section: bytes
    symbol: bytes  # its name there; empty for an entry that is a section
    value: int  # the address in a linked file, the offset in the section of an object


@dataclass(frozen=True)
class Section:
    """One input section of the startup set."""

    section_class: str
    region: str  # front, or next: behind it
    object: bytes
    name: bytes
    size: int
    index: int  # in the object's table of sections
    namesakes: int  # sections of its name in the objects, outside of COMDAT groups
    total: int  # the bytes of all namesakes


class Places:
    """Places of entries: those of entry 0 first, and those of one entry in the order of the link.
    As columns, because there may be millions."""

    def __init__(self, entries: Sequence[Name] = ()):
        self._entries = entries
        self._entry, self._value, self._where = array("i"), array("Q"), array("i")
        self._row = array("i")
        self._symbols: list[bytes] = []
        self._known: dict[tuple[bytes, ...], int] = {}  # how, object and section: few differ
        self._wheres: list[tuple[str, bytes, bytes]] = []

    def add(self, text: bytes) -> None:
        """Adds places from lines: `name`, entry, how, object, section, symbol, value and index."""
        fields = text.replace(b"\n", b"\t").split(b"\t")
        entries, symbols, values, rows = (fields[column:-1:_FIELDS] for column in (1, 5, 6, 7))
        wheres = list(zip(*(fields[column:-1:_FIELDS] for column in (2, 3, 4)), strict=True))
        numbers = list(map(int, entries))
        self._entry.extend(numbers)
        self._value.extend(map(int, values, itertools.repeat(16)))
        self._row.extend(map(int, rows))
        self._where.extend(self._numbers_of(wheres))
        if b"\\" in text:
            symbols = list(map(unescape, symbols))
        # Most symbols have their entry's name: then both are one object.
        known = len(self._entries)  # none, or fewer if the profile was replaced meanwhile
        names = [self._entries[number].name if number < known else b"" for number in numbers]
        self._symbols += names if names == symbols else [
            name if name == symbol else symbol for name, symbol in zip(names, symbols, strict=True)]

    def _numbers_of(self, wheres: list[tuple[bytes, bytes, bytes]]) -> list[int]:
        known = self._known
        numbers = [known.setdefault(where, len(known)) for where in wheres]
        self._wheres += [(how.decode(), unescape(owner), unescape(section)) for how, owner, section
                         in itertools.islice(known, len(self._wheres), None)]
        return numbers

    def __len__(self) -> int:
        return len(self._entry)

    def __iter__(self) -> Iterator[Place]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, index: int) -> Place:
        return Place(self._entry[index], *self._wheres[self._where[index]], self._symbols[index],
                     self._value[index])

    @property
    def entry(self) -> np.ndarray:
        return np.frombuffer(self._entry, np.int32) if self._entry else np.empty(0, np.int32)

    @property
    def value(self) -> np.ndarray:
        return np.frombuffer(self._value, np.uint64) if self._value else np.empty(0, np.uint64)

    @property
    def row(self) -> np.ndarray:
        """The row in the symbol table of the file; 0 for an entry that is a section."""
        return np.frombuffer(self._row, np.int32) if self._row else np.empty(0, np.int32)

    def objects(self) -> set[bytes]:
        """The objects that have places."""
        return {owner for _, owner, _ in self._wheres}

    @property
    def symbol(self) -> Sequence[bytes]:
        return self._symbols

    @cached_property
    def _first(self) -> "array[int]":
        """Where the places of each entry begin."""
        first = np.searchsorted(self.entry, np.arange(int(self.entry.max(initial=-1)) + 2))
        return array("i", first.astype(np.int32).tobytes())

    def of(self, entry: int) -> list[Place]:
        """The places of an entry."""
        return list(map(self.__getitem__, range(*self._bounds(entry))))

    def symbols_of(self, entry: int) -> list[bytes]:
        """The symbols of an entry."""
        first, end = self._bounds(entry)
        return self._symbols[first:end]

    def symbols_at(self, entry: int) -> Iterator[tuple[bytes, int]]:
        """The same, with the value of each."""
        first, end = self._bounds(entry)
        return zip(self._symbols[first:end], self._value[first:end], strict=True)

    def symbols_of_each(self, count: int) -> Iterator[list[bytes]]:
        """The symbols of each of the first `count` entries."""
        found = (self._symbols[first:end] for first, end in itertools.pairwise(self._first))
        return itertools.islice(itertools.chain(found, itertools.repeat([])), count)

    def _bounds(self, entry: int) -> tuple[int, int]:
        first = self._first
        return (first[entry], first[entry + 1]) if entry + 1 < len(first) else (0, 0)

    def inexact(self) -> set[int]:
        """The entries whose symbols have other names now."""
        other = [number for number, where in enumerate(self._wheres) if where[0] != "exact"]
        return set(self.entry[np.isin(np.array(self._where, np.int32), other)].tolist())


@dataclass(frozen=True)
class Resolved:
    places: Places
    unmovable: set[int]  # entries that are only defined where nothing can be moved

    def defined(self, entries: int) -> list[bool]:
        """For each of `entries` entries, whether it is defined at all."""
        found = np.zeros(entries, np.bool_)
        found[self.places.entry] = True
        found[list(self.unmovable)] = True
        return found.tolist()


def resolve(profile_path: str, files: Iterable[str],
            entries: Callable[[], Sequence[Name]] = tuple) -> Resolved:
    """Where the entries of a profile are in objects and archives, or in one linked file. Giving
    `entries` saves memory; it is called while the files are read, and once more."""
    return _resolved(profile_path, files, entries)


def resolve_listed(profile_path: str, list_path: str) -> Resolved:
    """Where the entries of a profile are in a list of symbols, which is described in
    tools/resolve/listed_symbols.h; the value of a place is its line, from 0."""
    return _resolved(profile_path, [list_path], tuple, "--listed")


class Block(NamedTuple):
    """A basic block of a function in a link; ids are the compiler's."""

    id: int
    size: int  # in bytes
    is_landing_pad: bool


class FunctionBlocks(NamedTuple):
    """All blocks of a function that an entry of a profile stands for, by address."""

    entry: int  # its number in the profile, from 0
    object: bytes  # base name of the file, or archive(member)
    symbol: bytes  # its name there
    hash: bytes  # of its map (block_counts.py)
    blocks: list[Block]


def blocks(profile_path: str, files: Iterable[str]) -> list[FunctionBlocks]:
    """The blocks of the functions of a profile that have a map in objects and archives, or in one
    linked file."""
    return [FunctionBlocks(int(entry), unescape(owner), unescape(symbol), digits,
                           list(map(_block, each)))
            for lines in _ask(profile_path, files, "--blocks")
            for _, entry, owner, symbol, digits, *each in _fields(lines)]


def _block(text: bytes) -> Block:
    number, _, rest = text.partition(b":")
    return Block(int(number), int(rest.rstrip(b"p")), rest.endswith(b"p"))


def startup_set(profile_path: str, files: Iterable[str]) -> list[Section]:
    """The sections of objects and archives that belong to the front, and that follow it, in planned
    order."""
    found: list[Section] = []
    for lines in _ask(profile_path, files, "--startup-set"):
        found += [Section(section_class.decode(), region.decode(), unescape(owner), unescape(name),
                          *map(int, numbers))
                  for _, section_class, region, owner, name, *numbers in _fields(lines)]
    return found


def _resolved(profile_path: str, files: Iterable[str], entries: Callable[[], Sequence[Name]],
              *options: str) -> Resolved:
    places, unmovable = None, set[int]()
    for lines in _ask(profile_path, files, *options, meanwhile=entries):
        if places is None:
            places = Places(entries())
        # Lines without a place come last.
        end = (b"\n" + lines).find(b"\n" + _UNMOVABLE)
        placed, others = (lines, b"") if end < 0 else (lines[:end], lines[end:])
        places.add(placed)
        unmovable.update(int(line.removeprefix(_UNMOVABLE)) for line in others.splitlines())
    return Resolved(Places() if places is None else places, unmovable)


def _ask(profile_path: str, files: Iterable[str], *options: str,
         meanwhile: Callable[[], object] = bool) -> Iterator[bytes]:
    """The output of frontload-resolve, some lines at a time."""
    with tempfile.NamedTemporaryFile("w", prefix="frontload-", encoding="utf-8",
                                     errors="surrogateescape") as inputs:
        words = [os.fspath(path) for path in (profile_path, *files)]
        if sum(map(len, words)) > _MAX_WORDS:
            inputs.write(response_files.text(words))
            inputs.flush()
            words = [f"@{inputs.name}"]
        with ask(_RESOLVER, [*options, "--", *words], _HEADER,
                 meanwhile=meanwhile) as (answer, said):
            for message in said.splitlines():
                errors.warning(message.removeprefix(f"{_RESOLVER}: warning: "))
            while lines := answer.read(_PIECE):
                yield lines + answer.readline()


def _fields(lines: bytes) -> Iterator[list[bytes]]:
    return (line.split(b"\t") for line in lines.removesuffix(b"\n").split(b"\n"))
