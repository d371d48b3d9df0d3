"""Sets of bytes and of ranges: what some symbols cover, and which of them lie around an address."""

import numpy as np

FARTHEST = 1 << 60  # far above any real address, far below where sums of two would overflow


def signed(positions: np.ndarray) -> np.ndarray:
    """Addresses, offsets or sizes, which come from a file and may be anything, as numbers to
    calculate with."""
    return np.minimum(positions, FARTHEST).astype(np.int64)


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


class Ranges:
    """The address ranges [start[i], end[i]), which may overlap, to look addresses up in. A group is
    the ranges that start at one address; groups are numbered by address."""

    def __init__(self, start: np.ndarray, end: np.ndarray):
        self._member = np.argsort(start, kind="stable")
        self.start, first = np.unique(start[self._member], return_index=True)
        self._bounds = np.append(first, len(start))
        ends = end[self._member]
        self.end = np.maximum.reduceat(ends, first) if len(first) else ends
        self._reach = np.maximum.accumulate(self.end)  # the farthest end of this and all before

    def members(self, group: int) -> list[int]:
        """The ranges of a group, by their number in what the constructor was given."""
        return self._member[self._bounds[group]:self._bounds[group + 1]].tolist()

    def innermost(self, addresses: np.ndarray) -> np.ndarray:
        """For each address the group that starts there or last before it around it, else -1."""
        groups = np.full(len(addresses), -1)
        position = np.searchsorted(self.start, addresses, "right") - 1
        pending = np.flatnonzero(position >= 0)
        while len(pending):
            here, wanted = position[pending], addresses[pending]
            found = (self.start[here] == wanted) | (self.end[here] > wanted)
            groups[pending[found]] = here[found]
            # Not in this one: an earlier range may reach over it, so look one back.
            pending = pending[~found & (here > 0)]
            position[pending] -= 1
            pending = pending[self._reach[position[pending]] > addresses[pending]]
        return groups

    def overlapping(self, first: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of a query i and a group that has bytes in [first[i], end[i])."""
        queries, groups = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        position = np.searchsorted(self.start, end, "left") - 1
        pending = np.flatnonzero(position >= 0)
        while len(pending):
            pending = pending[self._reach[position[pending]] > first[pending]]
            found = pending[self.end[position[pending]] > first[pending]]
            queries.append(found)
            groups.append(position[found])
            pending = pending[position[pending] > 0]
            position[pending] -= 1
        return np.concatenate(queries), np.concatenate(groups)
