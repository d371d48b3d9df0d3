"""Order files for gold's --section-ordering-file.

gold reads one name or glob of input sections a line, and skips lines that start with `#`. A name
stands for the sections of that name in all objects, and moves them all. So a section with namesakes
is listed only if they are no larger than what startup needs of that name, or than what would be
read around the needed sections at their old places. The `.text` of one small object is not listed,
or it would move that of all others.

The listed sections come last in their output section, in the order of the file. That is no worse
than being first: it is one block. gold merges strings and constants (.rodata.str1.1, .rodata.cst16)
into one block for each kind, wherever its first section is.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from frontload.base import errors
from frontload.order import sections as order_sections
from frontload.order.request import Format, Order, Request, lines
from frontload.order.sections import InputSection, Sections
from frontload.profile.addresses import WINDOW

_GLOB = re.compile(rb"[*?\[\\\n\r]")


def _make(request: Request) -> Order:
    sections = order_sections.find(request)
    notes = order_sections.notes(sections)
    if sections.guessed:
        return Order(lines(_guessed(sections)), *request.found_and_missing(), notes=notes)
    placed = list(chain.from_iterable(sections.placed.values()))
    worth = _worth_listing(placed)
    listed = [section.name for section in placed if section.is_unique or section.name in worth]
    if left_out := len(placed) - len(listed):
        notes.append(f"{errors.count(left_out, 'section')} left out: gold knows sections only by "
                     "name, and would move too many others of the same name with them")
    return Order(lines(dict.fromkeys(map(_pattern, listed))), *request.found_and_missing(),
                 notes=notes)


def _guessed(sections: Sections) -> Iterator[bytes]:
    return (prefix + _pattern(symbol) for guesses in sections.guessed.values()
            for prefixes, symbol in guesses for prefix in prefixes)


def _pattern(name: bytes) -> bytes:
    return _GLOB.sub(b"?", name)


def _worth_listing(placed: Sequence[InputSection]) -> set[bytes]:
    """The names of sections that may be listed although they have namesakes."""
    needed = Counter(section.name for section in placed)
    size: Counter[bytes] = Counter()
    for section in placed:
        size[section.name] += section.size
    return {section.name for section in placed
            if section.total - size[section.name] <= max(
                size[section.name], needed[section.name] * WINDOW)}


GOLD = Format("-Wl,--section-ordering-file=FILE", _make)
