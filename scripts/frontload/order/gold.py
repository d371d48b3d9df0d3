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

from frontload.base import errors
from frontload.order import sections as order_sections
from frontload.order.request import Order, Request, lines
from frontload.order.sections import InputSection
from frontload.profile.addresses import WINDOW

USE = "-Wl,--section-ordering-file=FILE"
_GLOB = re.compile(rb"[*?\[\\\n\r]")


def make(request: Request) -> Order:
    sections = order_sections.find(request)
    worth = _worth_listing([section for section in sections.placed if not section.is_unique])
    notes = order_sections.notes(sections)
    left_out = 0

    def patterns() -> Iterator[bytes]:
        nonlocal left_out
        for section in sections.placed:
            if section.is_unique or section.name in worth:
                yield _GLOB.sub(b"?", section.name)
            else:
                left_out += 1

    # Guesses differ, of which there may be millions.
    data = lines(patterns() if sections.guessed else dict.fromkeys(patterns()))
    if left_out:
        notes.append(f"{errors.count(left_out, 'section')} left out: gold knows sections only by "
                     "name, and would move too many others of the same name with them")
    return Order(data, *request.found_and_missing(), notes=notes)


def _worth_listing(namesakes: Sequence[InputSection]) -> set[bytes]:
    """The names of sections that are listed, although others have them, too."""
    needed = Counter(section.name for section in namesakes)
    size: Counter[bytes] = Counter()
    for section in namesakes:
        size[section.name] += section.size
    return {section.name for section in namesakes
            if section.total - size[section.name] <= max(
                size[section.name], needed[section.name] * WINDOW)}
