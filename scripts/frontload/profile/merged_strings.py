"""The strings in the string sections that a linker merged, to look addresses up in.

Only its contents identify such a string: several objects share it, and every link moves it.
"""

import os

import numpy as np

from frontload.base.errors import BadData
from frontload.base.intervals import Ranges
from frontload.elf import file as elves
from frontload.profile.link_map import Span
from frontload.profile.startup_profile import Name


class MergedStrings:
    """Group i of `ranges` is a string with its terminating zero, named by `name(i)`."""

    def __init__(self, elf: elves.Elf, spans: list[Span]):
        self._classes = elf.section_classes
        self._spans = sorted(spans, key=lambda span: span.start)
        size = sum(span.end - span.start for span in spans)
        if size > os.path.getsize(elf.path):  # sections that overlap could take all memory
            raise BadData(elf.path, f"smaller than its strings of {size} bytes",
                          note="it is damaged or incomplete: link it again")
        self._contents = [elves.read_range(elf, span.section, span.start, span.end - span.start)
                          for span in self._spans]
        starts, ends = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        for span, contents in zip(self._spans, self._contents, strict=True):
            end = np.flatnonzero(np.frombuffer(contents, np.uint8) == 0) + 1
            if not contents.endswith(b"\0"):
                end = np.append(end, len(contents))
            starts.append((np.append(0, end[:-1])[:len(end)] + span.start).astype(np.uint64))
            ends.append((end + span.start).astype(np.uint64))
        self.ranges = Ranges(np.concatenate(starts), np.concatenate(ends))
        self._first = np.array([span.start for span in self._spans], np.uint64)

    def names(self, groups: np.ndarray) -> list[Name | None]:
        """None for the empty string, which is padding."""
        found = []
        for group in groups.tolist():
            span, text = self._text(group)
            found.append(Name("string", self._classes[span.section], text) if text else None)
        return found

    def _text(self, group: int) -> tuple[Span, bytes]:
        start, end = self.ranges.start[group], self.ranges.end[group]
        index = int(np.searchsorted(self._first, start, "right")) - 1
        span = self._spans[index]
        return span, self._contents[index][int(start) - span.start:
                                           int(end) - span.start].removesuffix(b"\0")
