"""What all formats of order files have in common: each is a Format of a module LINKER.py, and a row
in the table of verbs/order.py."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from frontload.base.errors import Diagnostics
from frontload.profile import format as profile
from frontload.profile import resolver as names
from frontload.profile.startup_profile import Name, Profile


@dataclass(frozen=True)
class Request:
    """A request: a profile, and the files to look its names up in."""

    path: str  # of the profile
    linker: str  # by the name that the command line has for it
    binary: str | None = None  # the linked program
    objects: list[str] = field(default_factory=list)  # the objects and archives that are linked
    merged: list[str] = field(default_factory=list)  # profiles that it was merged from, if any
    diagnostics: Diagnostics = field(default_factory=Diagnostics)  # of the look-up

    @property
    def looked_up(self) -> bool:
        """Whether there are files to look names up in."""
        return bool(self.binary or self.objects)

    @property
    def files(self) -> list[str]:
        return [self.binary] if self.binary else self.objects

    @cached_property
    def profile(self) -> Profile:
        return profile.read(self.path)

    @cached_property
    def entries(self) -> list[Name]:
        """The profile's names, in first-touch order; `entry` of a place is an index here."""
        return list(self.profile.touches)

    @cached_property
    def resolved(self) -> names.Resolved:
        """Where the entries are, in the program or the objects."""
        return names.resolve(self.path, self.files, diagnostics=self.diagnostics)

    @property
    def in_link(self) -> Sequence[bool]:
        """For each entry, whether it is defined at all; True if there are no files to look in."""
        if not self.looked_up:
            return [True] * len(self.entries)
        return self.resolved.defined(len(self.entries))

    @cached_property
    def places(self) -> list[list[names.Place]]:
        """The places of each entry."""
        return self.resolved.places.of_each(len(self.entries))

    @cached_property
    def startup_set(self) -> list[names.Section]:
        """The input sections that startup needs, in the order in which a front holds them."""
        return names.startup_set(self.path, self.files, self.diagnostics)

    def found_and_missing(self) -> tuple[int, list[bytes]]:
        """How many names are anywhere in the link, and those that are not.

        Strings, which linkers merge, are not looked for; nor are sections in a linked program. A
        function that may be inlined is not missing.
        """
        found, missing = 0, []
        for entry, is_found in zip(self.entries, self.in_link, strict=True):
            if entry.has_symbol or (entry.kind == "section" and not self.binary):
                found += is_found
                if not is_found and not self.profile.touches[entry].touched.inlinable:
                    missing.append(entry.name)
        return found, missing


@dataclass(frozen=True)
class Order:
    """A file for a linker, and what became of the names that it can order."""

    data: bytes
    found: int
    missing: list[bytes]  # in first-touch order
    warnings: list[str] = field(default_factory=list)  # what the format cannot hold
    notes: list[str] = field(default_factory=list)  # what the linker does not order

    @property
    def wanted(self) -> int:
        return self.found + len(self.missing)


@dataclass(frozen=True)
class Format:
    """What takes an order file.

    use: the options by which it takes the file, which is called FILE
    make: the file, and what became of the profile's names; prints and writes nothing, and raises
          Failure for what the linker cannot do
    """

    use: str
    make: Callable[[Request], Order]


def lines(names: Iterable[bytes]) -> bytes:
    return b"\n".join([*names, b""])
