"""A piece of advice, and the common parts of the rules that give it.

A gain is a saving that the data shows, never a guess. If it is an upper limit, the sentence says
"at most". An unknown gain is None. A negative gain of bytes means that more is read.
"""

from dataclasses import dataclass, field

import numpy as np

from frontload.report.events import MAJOR
from frontload.report.spans import Spans
from frontload.report.start import Start

# Users do not relink the files of the distribution.
_SYSTEM_FOLDERS = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")


@dataclass(frozen=True)
class Gain:
    major_faults: int | None = None
    read_bytes: int | None = None


@dataclass(frozen=True)
class Sentence:
    id: str
    text: str
    how: str
    gain: Gain = field(default_factory=Gain)


def own_files(start: Start) -> list[int]:
    """The program and the libraries that are not of the distribution, if they are here."""
    return [number for number, place in enumerate(start.places) if place.elf is not None
            and (number == start.main
                 or not place.file.path.startswith(tuple(f"{folder}/" for folder
                                                         in _SYSTEM_FOLDERS)))]


def read_of(start: Start, number: int) -> Spans:
    """What was read of a file; nothing if that is unknown."""
    read = start.recording.files[number].read
    return Spans.none() if read is None else read


def majors_in(start: Start, number: int, where: Spans | None = None) -> np.ndarray:
    """The rows of the major faults in a file, or in a part of it."""
    seen = start.events
    rows = np.flatnonzero((seen.file == number) & seen.of(MAJOR))
    return rows if where is None else rows[where.holds(seen.offset[rows])]


def in_words(names: list[str], most: int = 3) -> str:
    """`a, b and 2 more`."""
    if len(names) <= most:
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
