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

from frontload.base import errors
from frontload.order import sections as order_sections
from frontload.order.request import Order, Request, lines
from frontload.order.sections import Sections
from frontload.profile.addresses import WINDOW

USE = "-Wl,--section-ordering-file=FILE"
_GLOB = re.compile(rb"[*?\[\\\n\r]")


def make(request: Request) -> Order:
    sections = order_sections.find(request)
    listed = _worth_listing(sections)
    notes = order_sections.notes(sections)
    left_out = sum(section.name not in listed for section in sections.placed)
    if left_out:
        notes.append(f"{errors.count(left_out, 'section')} left out: gold knows sections only by "
                     "name, and would move too many others of the same name with them")
    patterns = dict.fromkeys(_GLOB.sub(b"?", section.name) for section in sections.placed
                             if section.name in listed)
    return Order(lines(patterns), *request.found_and_missing(), notes=notes)


def _worth_listing(sections: Sections) -> set[bytes]:
    needed = Counter(section.name for section in sections.placed)
    size: Counter[bytes] = Counter()
    for section in sections.placed:
        size[section.name] += section.size
    return {section.name for section in sections.placed
            if section.is_unique or section.total - size[section.name] <= max(
                size[section.name], needed[section.name] * WINDOW)}
