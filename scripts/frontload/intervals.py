"""Sets of bytes, as sorted ranges that do not overlap: what some symbols cover."""

import numpy as np


class Cover:
    """The bytes in the union of the ranges [start[i], end[i]).

    Ranges that overlap become one; ranges that only touch stay two.
    """

    def __init__(self, start: np.ndarray, end: np.ndarray):
        order = np.lexsort((end, start))
        start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        first = np.ones(len(start), bool)
        first[1:] = start[1:] >= reach[:-1]
        last = np.roll(first, -1)
        self.start, self.end = start[first], reach[last]
        self._before = np.concatenate([[0], np.cumsum(self.end - self.start)])

    @property
    def size(self) -> int:
        return int(self._before[-1])

    def before(self, position: np.ndarray) -> np.ndarray:
        """How many covered bytes lie before each position."""
        index = np.searchsorted(self.start, position, "right")
        inside = np.zeros(len(position), np.int64)
        some = index > 0
        beyond = self.end[index[some] - 1] - position[some]
        inside[some] = np.maximum(beyond, 0)
        return self._before[index] - inside

    def between(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How many covered bytes lie in each range."""
        return self.before(end) - self.before(start)
