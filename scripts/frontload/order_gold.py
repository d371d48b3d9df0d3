"""Order files for gold's --section-ordering-file.

gold reads one name or glob of input sections a line, and passes over lines that start with `#`. It
knows no files: a name stands for the sections of that name in all objects. So a section that has
namesakes is only listed if at least half of their bytes are startup's; the `.text` of one small
object is not, or it would take that of all others along.

The listed sections come last in their output section, in the order of the file, behind all that are
not listed. That is no worse than being first: it is one block.
"""

from frontload import errors, order_sections
from frontload.order_format import Order, Request, lines
from frontload.order_sections import InputSection, Sections

USE = "-Wl,--section-ordering-file=FILE"


def make(request: Request) -> Order:
    sections = order_sections.find(request)
    listed = _worth_listing(sections)
    notes = order_sections.notes(sections)
    left_out = sum(section.name not in listed for section in sections.placed)
    if left_out:
        what = errors.count(left_out, "section")
        notes.append(f"{what} left out: gold would place all others of the name with it")
    patterns = dict.fromkeys(order_sections.pattern(section.name) for section in sections.placed
                             if section.name in listed)
    return Order(lines(patterns), *request.found_and_missing(), notes=notes)


def _worth_listing(sections: Sections) -> set[bytes]:
    wanted: dict[bytes, int] = {}
    for section in sections.placed:
        wanted[section.name] = wanted.get(section.name, 0) + section.size
    def good(section: InputSection) -> bool:
        return (sections.is_unique(section)
                or 2 * wanted[section.name] >= sections.namesakes[section.name].size)
    return {section.name for section in sections.placed if good(section)}
