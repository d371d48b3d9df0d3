"""Sets of numbers, bytes and address ranges: what symbols cover, and which lie around an
address."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Literal

from frontload.base.arrays import np

MAX_ADDRESS = 1 << 60  # far above real addresses; sums of two do not overflow


def signed(positions: np.ndarray) -> np.ndarray:
    """Addresses, offsets or sizes from a file, which may be anything, as numbers to calculate
    with."""
    return np.minimum(positions, MAX_ADDRESS).astype(np.int64)


def columns(pairs: Collection[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The first and the second numbers of pairs, as of `signed`."""
    first, second = (np.array([min(pair[side], MAX_ADDRESS) for pair in pairs], np.int64)
                     for side in (0, 1))
    return first, second


def distinct(*parts: np.ndarray) -> np.ndarray:
    """All distinct numbers of these arrays, ascending. np.unique() uses a hash table since NumPy
    2.3, which takes 60 times as long for a million."""
    ascending = np.sort(np.concatenate(parts))
    return ascending[np.append(True, ascending[1:] != ascending[:-1])[:len(ascending)]]


def are_among(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Which values are in `ascending`: like np.isin, which needs a hash table."""
    if not len(ascending):
        return np.zeros(len(values), bool)
    nearest = np.minimum(positions(ascending, values), len(ascending) - 1)
    return ascending[nearest] == values


def positions(ascending: np.ndarray, values: np.ndarray,
              side: Literal["left", "right"] = "left") -> np.ndarray:
    """Like np.searchsorted, which takes five times as long for a million values that do not ascend,
    because it looks at scattered memory."""
    order = np.argsort(values)
    found = np.empty(len(values), np.int64)
    found[order] = np.searchsorted(ascending, values[order], side)
    return found


class Cover:
    """The bytes in the union of the ranges [start[i], end[i]).

    Ranges that overlap become one; ranges that only touch stay two, unless they are `joined`.
    """

    def __init__(self, start: np.ndarray, end: np.ndarray, joined: bool = False):
        order = np.lexsort((end, start))
        start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        first = np.full(len(start), True)
        first[1:] = start[1:] >= reach[:-1] + joined
        last = np.append(first[1:], True)[:len(first)]
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
    the ranges that start at one address; groups are numbered by address.

    order: the ranges, by their number in what the constructor was given, those of group 0 first
    """

    def __init__(self, start: np.ndarray, end: np.ndarray):
        self.order = np.argsort(start, kind="stable")
        sorted_start, ends = start[self.order], end[self.order]
        first = np.flatnonzero(np.append(True, sorted_start[1:] != sorted_start[:-1])[:len(ends)])
        self._bounds = np.append(first, len(ends))
        self.start = sorted_start[first]
        self.end = np.maximum.reduceat(ends, first) if len(first) else ends

    @cached_property
    def _around(self) -> np.ndarray:
        """For each group, the last one before it that ends farther, else -1. One large range can
        lie around a million small ones, which must not be passed one by one."""
        around = np.arange(len(self.end)) - 1
        while True:
            nearer = np.flatnonzero((around >= 0) & (self.end[around] <= self.end))
            if not len(nearer):
                return around
            # No group between `around[i]` and i ends farther than i.
            around[nearer] = around[around[nearer]]

    def sizes(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where in `order` the ranges of each of these groups begin, and their numbers."""
        first = self._bounds[groups]
        return first, self._bounds[groups + 1] - first

    def innermost(self, addresses: np.ndarray) -> np.ndarray:
        """For each address, the last group that starts at or before it and covers it, else -1."""
        groups = positions(self.start, addresses, "right") - 1
        inside = np.flatnonzero(groups >= 0)
        here = groups[inside]
        known = (self.start[here] == addresses[inside]) | (self.end[here] > addresses[inside])
        # Not in the last group that starts before: an earlier range may reach over it.
        rest = inside[~known]
        groups[rest] = self._last_behind(groups[rest] - 1, addresses[rest])
        return groups

    def overlapping(self, first: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of a query i and a group that has bytes in [first[i], end[i])."""
        queries, groups = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        position = positions(self.start, end, "left") - 1
        pending = np.arange(len(position))
        while len(pending):
            found = self._last_behind(position[pending], first[pending])
            pending, found = pending[found >= 0], found[found >= 0]
            queries.append(pending)
            groups.append(found)
            position[pending] = found - 1
        return np.concatenate(queries), np.concatenate(groups)

    def have_bytes_in(self, first: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Whether any of the ranges has bytes in [first[i], end[i])."""
        last = positions(self.start, end) - 1  # the last that begins before the end
        found = last >= 0
        found[found] = self._reach[last[found]] > first[found]
        return found

    @cached_property
    def _reach(self) -> np.ndarray:
        """The farthest end of each group and all before it, without empty groups."""
        return np.maximum.accumulate(np.where(self.end > self.start, self.end, np.uint64(0)))

    def _last_behind(self, positions: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """For each position (or -1), the last group up to it that ends behind the address, else
        -1."""
        groups = positions.copy()
        pending = np.flatnonzero(groups >= 0)
        # Nearly always it is the group at the position.
        while len(pending := pending[self.end[groups[pending]] <= addresses[pending]]):
            groups[pending] = self._around[groups[pending]]
            pending = pending[groups[pending] >= 0]
        return groups
