"""Where the bytes that a start read went: by file, by section, by phase.

Of a section
    read     its bytes that were brought into the page cache
    touched  its touched bytes, whether read or in memory before
    wasted   read and not touched
    density  the touched part of the read bytes
The sections of a file (with a row for bytes in no section) are all its bytes, each once, so their
sum is what was read of the file.
"""

from dataclasses import dataclass

import numpy as np

from frontload.report.places import Places
from frontload.report.spans import Spans


@dataclass(frozen=True)
class Row:
    section: str
    size: int
    touched: int | None
    read: int | None
    wasted: int | None
    density: float | None


def density(read: int | None, wasted: int | None) -> float | None:
    """The part of read bytes that was not wasted; None if nothing was read, or it is unknown."""
    return None if not read or wasted is None else round((read - wasted) / read, 4)


def rows(place: Places, read: Spans | None, touched: Spans | None) -> list[Row]:
    """One row for each name of sections with read or touched bytes."""
    sizes = place.bytes_by_section(Spans(np.array([0]), np.array([place.file.size])))
    unused = None if read is None or touched is None else read - touched
    found = []
    counts = [None if each is None else place.bytes_by_section(each)
              for each in (touched, read, unused)]
    for name, size in sizes.items():
        was_touched, was_read, was_wasted = (None if each is None else each[name]
                                             for each in counts)
        if was_read or was_touched:
            found.append(Row(name, size, was_touched, was_read, was_wasted,
                             density(was_read, was_wasted)))
    return found
