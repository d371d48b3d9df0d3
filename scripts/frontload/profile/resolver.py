"""What the names of a startup profile are in a link: asks frontload-resolve.

One place, lldplugin/names, decides how a name is found in a build other than the recorded one:
exactly, or except for a suffix, a clone, a constructor's variant or a hash. The linkers use it too.
tools/resolve/resolved_lines.h describes what frontload-resolve says.
"""

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from frontload.base import errors
from frontload.base.errors import EXIT_OK, Failure
from frontload.base.tools import failure_of, tool
from frontload.profile.format import unescape

_RESOLVER = "frontload-resolve"
_HEADER = b"frontload-resolve 1"


@dataclass(frozen=True)
class Place:
    """One thing that an entry of a profile stands for."""

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
    region: str  # front, or next: what follows it
    object: bytes
    name: bytes
    size: int
    index: int  # in the object's table of sections
    namesakes: int  # sections of its name in the objects, outside of COMDAT groups
    total: int  # the bytes of all of these


@dataclass(frozen=True)
class Resolved:
    places: list[Place]
    unmovable: set[int]  # entries that are only defined where nothing can be moved

    def found(self) -> set[int]:
        """The entries that are defined at all."""
        return {place.entry for place in self.places} | self.unmovable


def resolve(profile_path: str, files: Iterable[str]) -> Resolved:
    """Where the entries of a profile are in objects and archives, or in one linked file."""
    return _resolved(_ask(profile_path, files))


def resolve_listed(profile_path: str, list_path: str) -> Resolved:
    """Where the entries of a profile are in a list of symbols, which is described in
    tools/resolve/listed_symbols.h; the value of a place is its line, from 0."""
    return _resolved(_ask(profile_path, [list_path], "--listed"))


def startup_set(profile_path: str, files: Iterable[str]) -> list[Section]:
    """The sections of objects and archives that belong to the front, and that follow it, in planned
    order."""
    return [Section(section_class.decode(), region.decode(), unescape(owner), unescape(name),
                    *map(int, numbers))
            for _, section_class, region, owner, name, *numbers
            in _ask(profile_path, files, "--startup-set")]


def _resolved(lines: list[list[bytes]]) -> Resolved:
    places, unmovable = [], set()
    for kind, *fields in lines:
        if kind == b"unmovable":
            unmovable.add(int(fields[0]))
        else:
            entry, how, *names, value = fields
            places.append(Place(int(entry), how.decode(), *map(unescape, names), int(value, 16)))
    return Resolved(places, unmovable)


def _ask(profile_path: str, files: Iterable[str], *options: str) -> list[list[bytes]]:
    command = [tool(_RESOLVER), *options, "--", profile_path, *files]
    result = subprocess.run([os.fspath(part) for part in command], capture_output=True, check=False)
    said = result.stderr.decode("utf-8", "replace")
    if result.returncode != EXIT_OK:
        raise failure_of(_RESOLVER, result.returncode, said)
    for message in said.splitlines():
        errors.warning(message.removeprefix(f"{_RESOLVER}: warning: "))
    header, *lines = result.stdout.splitlines()
    if header != _HEADER:
        raise Failure(f"{_RESOLVER}: unexpected output {header!r}",
                      note="install the programs and the scripts of one version of Frontload")
    return [line.split(b"\t") for line in lines]
