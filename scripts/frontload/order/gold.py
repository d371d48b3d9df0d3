"""Order files for gold's --section-ordering-file.

gold reads one name or glob of input sections a line, and passes over lines that start with `#`. It
knows no files: a name stands for the sections of that name in all objects, and what is listed moves
them all. So a section that has namesakes is listed if they are no more than startup needs of that
name, or no more than would be read around the sections that startup needs if they stayed where they
are. The `.text` of one small object is not, or it would take that of all others along.

The listed sections come last in their output section, in the order of the file, behind all that are
not listed. That is no worse than being first: it is one block. gold merges strings and constants
(.rodata.str1.1, .rodata.cst16) into one block for each kind, wherever its first section is.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from frontload.base import errors
from frontload.order import sections as order_sections
from frontload.order.request import Format, Order, Pieces, Request, lines
from frontload.order.sections import InputSection, Sections
from frontload.profile.addresses import WINDOW

_GLOB = re.compile(rb"[*?\[\\\n\r]")


def _make(request: Request) -> Order:
    sections = order_sections.find(request)
    notes = order_sections.notes(sections)
    if sections.guessed:
        return Order(Pieces(lambda: _guessed(sections)), *request.found_and_missing(), notes=notes)
    placed = list(chain.from_iterable(sections.placed.values()))
    worth = _worth_listing(placed)
    listed = [section.name for section in placed if section.is_unique or section.name in worth]
    if left_out := len(placed) - len(listed):
        notes.append(f"{errors.count(left_out, 'section')} left out: gold knows sections only by "
                     "name, and would move too many others of the same name with them")
    return Order(lines(dict.fromkeys(map(_pattern, listed))), *request.found_and_missing(),
                 notes=notes)


def _guessed(sections: Sections) -> Iterator[bytes]:
    for guesses in sections.guessed.values():
        for prefixes, symbol in guesses:
            end = _pattern(symbol) + b"\n"
            yield b"".join([prefix + end for prefix in prefixes])


def _pattern(name: bytes) -> bytes:
    return _GLOB.sub(b"?", name)


def _worth_listing(placed: Sequence[InputSection]) -> set[bytes]:
    """The names of sections that may be listed, although others have them, too."""
    needed = Counter(section.name for section in placed)
    size: Counter[bytes] = Counter()
    for section in placed:
        size[section.name] += section.size
    return {section.name for section in placed
            if section.total - size[section.name] <= max(
                size[section.name], needed[section.name] * WINDOW)}


GOLD = Format("-Wl,--section-ordering-file=FILE", _make)
