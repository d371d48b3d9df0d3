"""What all formats of order files have in common: each is a Format of a module LINKER.py, and a row
in the table of verbs/order.py."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from frontload.order import balanced
from frontload.profile import format as profile
from frontload.profile import resolver as names
from frontload.profile.startup_profile import Name, Profile


@dataclass(frozen=True)
class Request:
    """A request: a profile, and the files to look its names up in."""

    path: str  # of the profile
    read: Callable[[], Profile]  # large: it is read while names are looked up
    linker: str  # by the name that the command line has for it
    binary: str | None = None  # the linked program
    objects: list[str] = field(default_factory=list)  # the objects and archives that are linked
    merged: list[str] = field(default_factory=list)  # profiles that it was merged from, if any
    balanced: bool = False  # whether `sequence` is by LLVM's balanced partitioning

    @property
    def looked_up(self) -> bool:
        """Whether there are files to look names up in."""
        return bool(self.binary or self.objects)

    @property
    def files(self) -> list[str]:
        return [self.binary] if self.binary else self.objects

    @cached_property
    def profile(self) -> Profile:
        return self.read()

    @cached_property
    def scenarios(self) -> list[Profile]:
        """The profiles that it was merged from, or the profile itself."""
        return list(map(profile.read, self.merged)) or [self.profile]

    @cached_property
    def entries(self) -> list[Name]:
        """The profile's names, in first-touch order; `entry` of a place is an index here."""
        return list(self.profile.touches)

    @cached_property
    def traces(self) -> list[list[int]]:
        """For each scenario, the entries that are symbols, by first touch."""
        if not self.merged:
            return [[number for number in self.profile.order() if self.entries[number].has_symbol]]
        numbers = {name: number for number, name in enumerate(self.entries)}
        return [[numbers[name] for name, _ in scenario.in_order() if name.has_symbol]
                for scenario in self.scenarios]

    @property
    def sequence(self) -> Iterator[tuple[int, Name]]:
        """The entries with their numbers, in the order of the file."""
        numbers: Iterable[int] = range(len(self.entries))
        if self.balanced:
            numbers = dict.fromkeys([*balanced.order(self.traces), *numbers])
        return ((number, self.entries[number]) for number in numbers)

    @cached_property
    def resolved(self) -> names.Resolved:
        """Where the entries are, in the program or the objects."""
        return names.resolve(self.path, self.files, lambda: self.entries)

    @property
    def in_link(self) -> Sequence[bool]:
        """For each entry, whether it is defined at all; True if there are no files to look in."""
        if not self.looked_up:
            return [True] * len(self.entries)
        return self.resolved.defined(len(self.entries))

    @property
    def places(self) -> names.Places:
        return self.resolved.places

    @cached_property
    def startup_set(self) -> list[names.Section]:
        """The input sections that startup needs, in the order in which a front holds them."""
        return names.startup_set(self.path, self.files)

    def found_and_missing(self) -> tuple[int, list[bytes]]:
        """How many names are anywhere in the link, and those that are not.

        Strings, which linkers merge, are not looked for; nor are sections in a linked program.
        """
        found, missing = 0, []
        for entry, is_found in zip(self.entries, self.in_link, strict=True):
            if entry.has_symbol or (entry.kind == "section" and not self.binary):
                found += is_found
                if not is_found:
                    missing.append(entry.name)
        return found, missing


class Pieces(Iterable[bytes]):
    """A file that is made each time it is written: it may have hundreds of megabytes."""

    def __init__(self, make: Callable[[], Iterator[bytes]]):
        self._make = make

    def __iter__(self) -> Iterator[bytes]:
        return self._make()

    def __bool__(self) -> bool:
        return any(self)


@dataclass(frozen=True)
class Order:
    """A file for a linker, and what became of the names that it can order."""

    data: bytes | Pieces
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
    any_order: whether `make` keeps to the request's `sequence`, so that another order than that of
               first touches can be asked for
    """

    use: str
    make: Callable[[Request], Order]
    any_order: bool = False


def lines(names: Iterable[bytes]) -> bytes:
    return b"\n".join([*names, b""])
