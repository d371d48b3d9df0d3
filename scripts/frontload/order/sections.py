"""Input sections in the order in which startup needs them, for linkers that know them by name.

GNU ld and gold place input sections by patterns of their names, GNU ld also by file. A name may
stand for several sections: `.rodata.cst16`, the `.text` of objects compiled without
-ffunction-sections, static functions of one name. The *namesakes* of a section are the sections of
its name in all objects. Copies of one COMDAT group are no namesakes: only one of them is linked,
from whichever object the linker finds first, so they must not be told apart by object.

A linked program does not record the names of its input sections. With only a program to look in,
they are guessed, as compilers name them with -ffunction-sections and -fdata-sections, after one of
the symbols at an address; a pattern that matches nothing does no harm.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from frontload.base import errors
from frontload.base.errors import Failure
from frontload.elf import file as elf
from frontload.elf.section_names import CLASSES, PREFIXES, output_class
from frontload.order import aliases
from frontload.order.request import Request

_UNLIKELY, _STARTUP = b".text.unlikely.", b".text.startup"
_SPLIT = re.compile(rb"\.cold(\.\d+)?$")  # its section is .text.unlikely.NAME, without this suffix
_WITHOUT_COLD = tuple(prefix for prefix in PREFIXES["text"] if prefix != _UNLIKELY)
# Constructors of a file's globals are in .text.startup, all of it run at startup.
_INITIALIZER = (b"_GLOBAL__", b"__cxx_global_var_init")


class InputSection(NamedTuple):
    name: bytes
    object: bytes = b""  # empty: of any object
    size: int = 0
    namesakes: int = 0  # including itself, if it is in no COMDAT group
    total: int = 0  # the bytes of all namesakes

    @property
    def is_unique(self) -> bool:
        return self.namesakes <= 1


# Guessed sections, each once: the prefixes of the sections of a symbol, and the symbol.
Guesses = list[tuple[tuple[bytes, ...], bytes]]


@dataclass
class Sections:
    """The sections to place, in order, by the class of the output section, and other counts."""

    placed: Mapping[str, Sequence[InputSection]] = field(default_factory=dict)
    guessed: Mapping[str, Guesses] = field(default_factory=dict)  # in its place
    elsewhere: int = 0  # sections outside of OUTPUTS


def find(request: Request) -> Sections:
    """The sections of a profile's names, found or guessed."""
    if not request.looked_up:
        raise Failure(f"{request.linker}: places sections, and a profile does not have their "
                      "names", note="give the objects and archives that are linked with --objects, "
                      "or the linked program with --binary")
    if request.binary:
        return Sections(guessed=_guessed(request, request.binary))
    front = [section for section in request.startup_set if section.region == "front"]
    placed: dict[str, list[InputSection]] = {section_class: [] for section_class in CLASSES}
    for section in front:
        if output_class(section.name) == section.section_class:
            placed[section.section_class].append(InputSection(
                section.name, section.object, section.size, section.namesakes, section.total))
    return Sections(placed, elsewhere=len(front) - sum(map(len, placed.values())))


def _split_functions(path: str) -> set[bytes]:
    """The functions that have cold parts."""
    names = elf.read(path).linked_symbols().names
    return {_SPLIT.sub(b"", name) for name in names.some(names.having(b".cold"))
            if _SPLIT.search(name)}


def _guessed(request: Request, binary: str) -> dict[str, Guesses]:
    split = _split_functions(binary)
    guesses: dict[str, Guesses] = {section_class: [] for section_class in CLASSES}
    # By class, the symbols whose sections are guessed, and those whose cold parts are.
    known: defaultdict[str, set[bytes]] = defaultdict(set)
    owners: set[bytes] = set()
    has_initializers = False
    for entry, symbols in zip(request.entries, aliases.Aliases(request).of_each(), strict=True):
        section_class = entry.section_class
        of_class, seen = guesses[section_class], known[section_class]
        for symbol in symbols:
            if symbol in seen:
                continue
            seen.add(symbol)
            if section_class != "text":
                of_class.append((PREFIXES[section_class], symbol))
                continue
            if not has_initializers and symbol.startswith(_INITIALIZER):
                has_initializers = True
                of_class.append(((_STARTUP,), b""))
            owner = _SPLIT.sub(b"", symbol) if b".cold" in symbol else symbol
            # The cold part of a split function is an entry of its own.
            is_whole = owner == symbol and symbol not in split
            of_class.append((PREFIXES["text"] if is_whole else _WITHOUT_COLD, symbol))
            if owner != symbol and owner not in owners:
                owners.add(owner)
                of_class.append(((_UNLIKELY,), owner))
    return guesses


def notes(sections: Sections) -> list[str]:
    """Notes for users about sections that are not placed."""
    said = []
    if sections.guessed:
        said.append("the names of sections are guessed as -ffunction-sections -fdata-sections make "
                    "them, and constants without a name are not placed: --objects tells both")
    if sections.elsewhere:
        said.append(f"{errors.count(sections.elsewhere, 'section')} left out: the linker turns "
                    "such sections into output sections of their own")
    return said
