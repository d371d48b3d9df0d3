"""Sets of bytes of a file: read or touched bytes, or the bytes of a section.

A set is kept as its spans, which lie apart from each other and ascend, so its memory does not
depend on the file's claimed size.

As text, a set is its runs, `first+number` separated by spaces, in units of a page or a granule.
"""

import re

from frontload.base.arrays import np
from frontload.base.intervals import Cover, distinct

_RUN = re.compile(r"(0|[1-9][0-9]{0,17})\+([1-9][0-9]{0,17})", re.ASCII)


class Spans(Cover):
    """The bytes in the union of the ranges [start[i], end[i]); empty ranges are dropped."""

    def __init__(self, start: np.ndarray, end: np.ndarray):
        start, end = np.asarray(start, np.int64), np.asarray(end, np.int64)
        some = start < end
        super().__init__(start[some], end[some], joined=True)

    @classmethod
    def none(cls) -> "Spans":
        return cls(np.empty(0), np.empty(0))

    @classmethod
    def from_text(cls, text: str, unit: int, limit: int) -> "Spans":
        """The runs of a text, which must ascend and lie in the units of `limit` bytes, else
        ValueError. Bytes beyond `limit` in the last unit are cut off."""
        firsts: list[int] = []
        ends: list[int] = []
        units = -(-limit // unit)
        for run in text.split(" ") if text else ():
            match = _RUN.fullmatch(run)
            if not match:
                raise ValueError(f"{run!r} is not a run FIRST+NUMBER")
            first, end = int(match[1]), int(match[1]) + int(match[2])
            if ends and first <= ends[-1]:
                raise ValueError(f"the run {run} does not come after the one before it")
            if end > units:
                raise ValueError(f"the run {run} ends after the last of {units}")
            firsts.append(first)
            ends.append(end)
        return cls(np.array(firsts, np.int64) * unit,
                   np.minimum(np.array(ends, np.int64) * unit, limit))

    def to_text(self, unit: int) -> str:
        """The runs of the units that hold any of these bytes."""
        units = Spans(self.start // unit, -(-self.end // unit))
        return " ".join(f"{start}+{end - start}" for start, end in
                        zip(units.start.tolist(), units.end.tolist(), strict=True))

    def __len__(self) -> int:
        """How many spans there are."""
        return len(self.start)

    def between(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How many of the bytes lie in each range."""
        return super().between(start, np.maximum(start, end))

    def holds(self, position: np.ndarray) -> np.ndarray:
        """For each position, whether it is in the set."""
        index = np.searchsorted(self.start, position, "right") - 1
        return (index >= 0) & (np.append(self.end, 0)[index] > position)

    def __or__(self, other: "Spans") -> "Spans":
        return Spans(np.concatenate([self.start, other.start]),
                     np.concatenate([self.end, other.end]))

    def __and__(self, other: "Spans") -> "Spans":
        return self._pieces(other, True)

    def __sub__(self, other: "Spans") -> "Spans":
        return self._pieces(other, False)

    def _pieces(self, other: "Spans", inside: bool) -> "Spans":
        """The part of this set that is in the other, or is not."""
        edges = distinct(self.start, self.end, other.start, other.end)
        start, end = edges[:-1], edges[1:]
        some = self.holds(start) & (other.holds(start) == inside)
        return Spans(start[some], end[some])
