"""The interface of importers.

An importer reads one foreign format: order files and traces that people already have. It yields
runs: the touched names in order of first touch, each once. It reads its input in pieces and keeps
only its result, because logs of starts have gigabytes.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from frontload.base import errors

_DEMANGLED = b"::", b"(", b"<", b" "
_MAX_SHOWN = 3  # examples in a note


class Mention(NamedTuple):
    """An input's name for something that was touched.

    section_class: text, rodata, relro, data or bss; empty if unknown
    file: the source file of a local name, if known
    readings: where only the program's symbols can decide, all that the input can mean, as section
              classes and names, the likeliest first
    address: one in the function when it ran, if the input has it and the program is known
    is_doubtful: it may be no name at all, and then the program lacks nothing
    """

    name: bytes
    section_class: str = ""
    file: bytes = b""
    readings: tuple[tuple[str, bytes], ...] = ()
    address: int | None = None
    is_doubtful: bool = False


@dataclass
class NamedRun:
    """One run by name; `mentions` is an ordered set. Counts as `weight` runs."""

    mentions: dict[Mention, None] = field(default_factory=dict)
    weight: int = 1


class LeftOut:
    """Counts what is not imported, by reason, with the first examples of each."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: defaultdict[str, list[bytes]] = defaultdict(list)

    def add(self, what: str, example: bytes = b"") -> None:
        self._counts[what] += 1
        examples = self._examples[what]
        if example and len(examples) < _MAX_SHOWN and example not in examples:
            examples.append(example)

    def report(self, path: str, diagnostics: errors.Diagnostics) -> None:
        for what, number in sorted(self._counts.items()):
            examples = b", ".join(self._examples[what]).decode("utf-8", "surrogateescape")
            diagnostics.note(f"{path}: left out: {what} ({number})"
                             + (examples and f": {examples}"))


@dataclass(frozen=True)
class Source:
    """One input file, and what else is known about the program.

    program: its base name
    has_binary: whether the program itself was given, so that its symbols decide
    """

    path: str
    program: str
    has_binary: bool
    left_out: LeftOut = field(default_factory=LeftOut)

    def is_program(self, path: bytes) -> bool:
        """Whether a path in the input is the program's."""
        return os.path.basename(path) == os.fsencode(self.program)


def add_symbol(source: Source, run: NamedRun, name: bytes, address: int | None = None) -> None:
    """Adds a function that a tool names. If that name is not its symbol, the address identifies the
    function, if the program is known. Without an address, the name may be a symbol of Zig."""
    is_doubtful = any(mark in name for mark in _DEMANGLED)
    if is_doubtful and not source.has_binary:
        source.left_out.add("a demangled name, which several symbols may have", name)
    elif source.has_binary and address is not None:
        run.mentions[Mention(name, "text", address=address)] = None
    else:
        run.mentions[Mention(name, "text", is_doubtful=is_doubtful)] = None


@dataclass(frozen=True)
class Importer:
    """One format.

    made_by: the command that makes such a file, for notes
    recognizes: whether a file that starts with these whole lines can only be of this format
    read: the runs of an input; bad contents raise BadData
    """

    name: str
    made_by: str
    recognizes: Callable[[bytes], bool]
    read: Callable[[Source], Iterable[NamedRun]]

    @property
    def note(self) -> str:
        return f"make one with: {self.made_by}"
