"""Looks up the names of a startup profile in a link: asks frontload-resolve.

One place, lldplugin/names, decides how a name is found in another build than the recorded one:
exactly, or except for a suffix, a clone, a constructor's variant, a tag or a hash. The linkers use
it as well. tools/resolve/resolved_lines.h describes the output of frontload-resolve. It warns only
of archives, so callers that give it one linked file need no `diagnostics`.

There may be more files than a command line can hold: then they are in a response file.
"""

import functools
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from frontload.base import response_files
from frontload.base.arrays import np
from frontload.base.errors import Diagnostics
from frontload.base.tools import ask
from frontload.profile.block_counts import BlockCounts, Shape
from frontload.profile.format import unescape
from frontload.profile.startup_profile import Profile

_RESOLVER = "frontload-resolve"
_HEADER = b"frontload-resolve 2"
_UNMOVABLE = b"unmovable"  # begins a line without a place
_MAX_WORDS = 100_000  # bytes of a command line; Linux allows some 2 million, 128 KiB in one word


class Place(NamedTuple):
    """One place that an entry of a profile stands for."""

    entry: int  # its number in the profile, from 0
    how: str  # how its name was found: exact, suffix, clone, variant, tag, hash or part
    object: bytes  # base name of the file, or archive(member)
    section: bytes
    symbol: bytes  # its name there; empty for an entry that is a section
    value: int  # the address in a linked file, the offset in the section of an object
    row: int  # the row in the symbol table of the file; 0 for an entry that is a section


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


class Places(tuple[Place, ...]):
    """Places, by entry, and those of one entry in the order of the link."""

    @cached_property
    def entry(self) -> np.ndarray:
        return np.array([place.entry for place in self], np.int32)

    @cached_property
    def value(self) -> np.ndarray:
        return np.array([place.value for place in self], np.uint64)

    @cached_property
    def row(self) -> np.ndarray:
        return np.array([place.row for place in self], np.int32)

    def of_each(self, count: int) -> list[list[Place]]:
        """The places of each of the first `count` entries."""
        found: list[list[Place]] = [[] for _ in range(count)]
        for place in self:
            found[place.entry].append(place)
        return found

    def inexact(self) -> set[int]:
        """The entries whose symbols have other names now."""
        return {place.entry for place in self if place.how != "exact"}


@dataclass(frozen=True)
class Resolved:
    places: Places
    unmovable: set[int]  # entries that are only defined where nothing can be moved

    def defined(self, entries: int) -> list[bool]:
        """For each of `entries` entries, whether it is defined at all."""
        found = np.zeros(entries, bool)
        found[self.places.entry] = True
        found[list(self.unmovable)] = True
        return found.tolist()


def resolve(profile_path: str, files: Iterable[str], *options: str,
            diagnostics: Diagnostics | None = None) -> Resolved:
    """Where the entries of a profile are in objects and archives, or in one linked file."""
    places, unmovable = list[Place](), set[int]()
    shared = functools.cache(unescape)  # objects and sections: few differ
    for kind, *fields in _ask(profile_path, files, *options, diagnostics=diagnostics):
        if kind == _UNMOVABLE:
            unmovable.add(int(fields[0]))
            continue
        entry, how, owner, section, symbol, value, row = fields
        places.append(Place(int(entry), how.decode(), shared(owner), shared(section),
                            unescape(symbol), int(value, 16), int(row)))
    return Resolved(Places(places), unmovable)


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


def blocks(profile_path: str, files: Iterable[str], diagnostics: Diagnostics | None = None
           ) -> Iterator[FunctionBlocks]:
    """The blocks of the functions of a profile that have a map in objects and archives, or in one
    linked file."""
    for _, entry, owner, symbol, digits, *each in _ask(profile_path, files, "--blocks",
                                                       diagnostics=diagnostics):
        yield FunctionBlocks(int(entry), unescape(owner), unescape(symbol), digits,
                             list(map(_block, each)))


def find_blocks(startup: Profile, path: str, files: Iterable[str],
                diagnostics: Diagnostics | None = None
                ) -> list[tuple[FunctionBlocks, BlockCounts | None]]:
    """The same of a profile at `path`; each function with its touched blocks, or None if no run has
    touched it in this shape."""
    entries, found = list(startup.touches), []
    for function in blocks(path, files, diagnostics):
        name = entries[function.entry]
        found.append((function, startup.blocks.get(Shape(name.name, name.file, function.hash))))
    return found


def recorded_functions(startup: Profile) -> set[tuple[bytes, bytes]]:
    """The functions, by name and file, for which a profile has blocks in any shape."""
    return {(shape.name, shape.file) for shape in startup.blocks}


def count_same_blocks(startup: Profile, path: str, binary: str) -> tuple[int, int]:
    """How many functions of a linked file have the recorded blocks, and how many functions have
    blocks in both the profile and the file."""
    if not startup.blocks:
        return 0, 0
    entries, known = list(startup.touches), recorded_functions(startup)
    of_all, same = set(), set()
    for function, counts in find_blocks(startup, path, [binary]):
        name = entries[function.entry]
        if (name.name, name.file) in known:
            of_all.add(function.entry)
            if counts is not None:
                same.add(function.entry)
    return len(same), len(of_all)


def _block(text: bytes) -> Block:
    number, _, rest = text.partition(b":")
    return Block(int(number), int(rest.rstrip(b"p")), rest.endswith(b"p"))


def startup_set(profile_path: str, files: Iterable[str], diagnostics: Diagnostics | None = None
                ) -> list[Section]:
    """The sections of objects and archives that belong to the front, and that follow it, in planned
    order."""
    return [Section(section_class.decode(), region.decode(), unescape(owner), unescape(name),
                    *map(int, numbers))
            for _, section_class, region, owner, name, *numbers
            in _ask(profile_path, files, "--startup-set", diagnostics=diagnostics)]


def _ask(profile_path: str, files: Iterable[str], *options: str,
         diagnostics: Diagnostics | None = None) -> Iterator[list[bytes]]:
    """The fields of each line that frontload-resolve prints."""
    diagnostics = diagnostics or Diagnostics()
    with tempfile.NamedTemporaryFile("w", prefix="frontload-", encoding="utf-8",
                                     errors="surrogateescape") as inputs:
        words = [os.fspath(path) for path in (profile_path, *files)]
        if sum(map(len, words)) > _MAX_WORDS:
            inputs.write(response_files.text(words))
            inputs.flush()
            words = [f"@{inputs.name}"]
        with ask(_RESOLVER, [*options, "--", *words], _HEADER) as (answer, said):
            for message in said.splitlines():
                diagnostics.warning(message.removeprefix(f"{_RESOLVER}: warning: "))
            for line in answer:
                yield line.removesuffix(b"\n").split(b"\t")
