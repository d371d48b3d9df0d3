"""Input sections in the order in which startup needs them, for linkers that know them by name.

GNU ld and gold place input sections by patterns of their names, GNU ld also of the files they are
in. A name may stand for more than one section: `.rodata.cst16`, the `.text` of what was not
compiled with -ffunction-sections, static functions of one name. Its *namesakes* are those of all
objects. Copies of one COMDAT group are none: only one of them is linked, from whichever object the
linker finds first, so that they must not be told apart by object.

A linked program does not say what its input sections were called. With only that to look names up
in, they are guessed, as compilers name them with -ffunction-sections and -fdata-sections, after one
of the symbols at an address; a pattern that matches nothing does no harm.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frontload.base import errors
from frontload.base.errors import Failure
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.elf.section_names import PREFIXES, output_class
from frontload.elf.symbols import Symbols
from frontload.order.request import Request

_SPLIT = re.compile(rb"\.cold(\.\d+)?$")  # is in .text.unlikely.NAME without this
# What constructs a file's globals is in .text.startup, all of it run at startup.
_INITIALIZER = re.compile(rb"_GLOBAL__|__cxx_global_var_init")


class InputSection(NamedTuple):
    section_class: str
    name: bytes
    object: bytes = b""  # empty: of any object
    size: int = 0
    namesakes: int = 0  # itself included, where it is in no COMDAT group
    total: int = 0  # the bytes of all of these

    @property
    def is_unique(self) -> bool:
        return self.namesakes <= 1


@dataclass
class Sections:
    """What to place, in order, and what there is besides."""

    placed: list[InputSection]
    elsewhere: int = 0  # sections of other output sections than those of OUTPUTS
    guessed: bool = False


def find(request: Request) -> Sections:
    """The sections that a profile's names are in, or by their names should be in."""
    if not request.looked_up:
        raise Failure(f"{request.args.linker}: places sections, and a profile does not have their "
                      "names", note="give the objects and archives that are linked with --objects, "
                      "or the linked program with --binary")
    if request.binary:
        return Sections(list(dict.fromkeys(_guessed(request))), guessed=True)
    front = [section for section in request.startup_set if section.region == "front"]
    placed = [InputSection(section.section_class, section.name, section.object, section.size,
                           section.namesakes, section.total)
              for section in front if output_class(section.name) == section.section_class]
    return Sections(placed, len(front) - len(placed))


def _guessed(request: Request) -> Iterator[InputSection]:
    symbols = elf.read(request.binary).linked_symbols()
    aliases = _aliases(request, symbols)
    names = symbols.names
    split = {_SPLIT.sub(b"", name) for name in names.some(names.having(b".cold"))
             if _SPLIT.search(name)}
    for number, entry in enumerate(request.entries):
        for place in request.places.of(number):
            for symbol in dict.fromkeys([place.symbol, *aliases.get(place.value, ())]):
                if _INITIALIZER.match(symbol):
                    yield InputSection("text", b".text.startup")
                for prefix in PREFIXES[entry.section_class]:
                    owner = _SPLIT.sub(b"", symbol) if prefix == b".text.unlikely." else symbol
                    # That of a function which was split has its cold part, an entry of its own.
                    if prefix != b".text.unlikely." or owner != symbol or symbol not in split:
                        yield InputSection(entry.section_class, prefix + owner)


def _aliases(request: Request, symbols: Symbols) -> dict[int, list[bytes]]:
    """The symbols at the addresses of the profile's names."""
    rows = np.flatnonzero(np.isin(symbols.value, request.places.value) & (symbols.section > 0) &
                          np.isin(symbols.type, (constants.STT_FUNC, constants.STT_OBJECT)))
    found: dict[int, list[bytes]] = {}
    for row, name in zip(rows.tolist(), symbols.names.some(rows), strict=True):
        found.setdefault(int(symbols.value[row]), []).append(name)
    return found


def notes(sections: Sections) -> list[str]:
    """What a user should know about what is not placed."""
    said = []
    if sections.guessed:
        said.append("the names of sections are guessed as -ffunction-sections -fdata-sections make "
                    "them, and constants without a name are not placed: --objects tells both")
    if sections.elsewhere:
        said.append(f"{errors.count(sections.elsewhere, 'section')} left out: the linker turns "
                    "such sections into output sections of their own")
    return said
