"""The contents of a recorded file, as recorded: its sections and segments.

An *offset* counts from the start of the file; an *address* is the one that the linker assigned.
"""

from collections.abc import Sequence

import numpy as np

from frontload.base.intervals import signed
from frontload.measure.sections import NO_SECTION
from frontload.report.recorded import File
from frontload.report.spans import Spans

_NOWHERE = 1 << 60  # no address


class Layout:
    """The layout of one file."""

    def __init__(self, file: File):
        self.file = file
        ordered = sorted(file.sections, key=lambda section: section.offset)
        start = np.minimum([section.offset for section in ordered] or np.empty(0), file.size)
        end = np.minimum([section.offset + section.size for section in ordered] or np.empty(0),
                         file.size)
        start, end = start.astype(np.int64), end.astype(np.int64)
        # In a damaged file sections overlap: the earlier one has the common bytes.
        reach = np.maximum.accumulate(np.append(0, end))[:-1]
        self._names = [section.name for section in ordered]
        self._start, self._end = np.maximum(start, reach), end

    def section_at(self, offsets: np.ndarray) -> list[str]:
        """The name of the section at each offset."""
        some = np.flatnonzero(self._end > self._start)
        if not len(some):
            return [NO_SECTION] * len(offsets)
        index = np.searchsorted(self._start[some], offsets, "right") - 1
        inside = (index >= 0) & (offsets < self._end[some][index])
        return [self._names[some[place]] if found else NO_SECTION
                for place, found in zip(index.tolist(), inside.tolist(), strict=True)]

    def cleared(self, offsets: np.ndarray) -> np.ndarray:
        """Whether a write at each offset is to .bss: the last page of the data is mapped whole, and
        cleared behind the data, whatever the file has there."""
        found = np.zeros(len(offsets), bool)
        for segment in self.file.segments:
            end = segment.offset + segment.file_bytes
            if "w" in segment.flags and segment.memory_bytes > segment.file_bytes:
                page = self.file.page_size
                found |= (offsets >= end) & (offsets < -(-end // page) * page)
        return found

    def bytes_by_section(self, spans: Spans) -> dict[str, int]:
        """How many of these bytes lie in the sections of each name. NO_SECTION, for bytes in none,
        comes last: each byte counts once."""
        found: dict[str, int] = {}
        for name, size in zip(self._names, spans.between(self._start, self._end).tolist(),
                              strict=True):
            found[name] = found.get(name, 0) + size
        rest = spans.size - sum(found.values())
        found[NO_SECTION] = found.pop(NO_SECTION, 0) + rest
        return found

    def sections(self, *names: str) -> Spans:
        """The bytes of the sections with these names."""
        mine = np.isin(self._names, names) if self._names else np.zeros(0, bool)
        return Spans(self._start[mine], self._end[mine])

    def segment_flags(self, offsets: np.ndarray) -> np.ndarray:
        """For each offset `x`, `w` or `r`: mapped as code, else as writable data, else as
        constants; empty where it is not mapped."""
        flags = np.zeros(len(offsets), "U1")
        for kind in "rwx":  # the strongest wins where a page belongs to two segments
            for segment in self.file.segments:
                if kind in segment.flags:
                    flags[segment.holds(offsets)] = kind
        return flags

    def addresses(self, offsets: np.ndarray) -> np.ndarray:
        """The address of each offset; the highest one for offsets that are not loaded."""
        return _mapped(offsets, [(segment.offset, segment.file_bytes, segment.address)
                                 for segment in self.file.segments], _NOWHERE).astype(np.uint64)

    def offsets(self, addresses: np.ndarray) -> np.ndarray:
        """The offset of each address; -1 without bytes in the file."""
        return _mapped(signed(addresses), [(segment.address, segment.file_bytes, segment.offset)
                                           for segment in self.file.segments], -1)

    def ranges_in_file(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of addresses as ranges of offsets, cut where the file ends; ranges without bytes
        in it become empty."""
        first = self.offsets(start)
        stop = np.where(first < 0, 0, np.minimum(first + signed(end - start), self.file.size))
        return np.maximum(first, 0), np.maximum(stop, np.maximum(first, 0))


def _mapped(values: np.ndarray, parts: Sequence[tuple[int, int, int]], otherwise: int
            ) -> np.ndarray:
    """Moves each value by the first part (from, how many, to) that holds it."""
    found = np.full(len(values), otherwise, np.int64)
    for start, size, to in reversed(parts):
        inside = (values >= start) & (values - start < size)
        found[inside] = values[inside] - start + min(to, _NOWHERE)
    return found
