"""Sets of numbers, bytes and address ranges: what symbols cover, and which lie around an
address."""

from functools import cached_property
from typing import Literal

import numpy as np

MAX_ADDRESS = 1 << 60  # far above real addresses; sums of two do not overflow


def signed(positions: np.ndarray) -> np.ndarray:
    """Addresses, offsets or sizes from a file, which may be anything, as numbers to calculate
    with."""
    return np.minimum(positions, MAX_ADDRESS).astype(np.int64)


def distinct(*parts: np.ndarray) -> np.ndarray:
    """All distinct numbers of these arrays, ascending. np.unique() and np.union1d() use a hash
    table since NumPy 2.3, which takes 60 times as long for a million."""
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
        first = np.ones(len(start), bool)
        first[1:] = start[1:] >= reach[:-1] + joined
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
    the ranges that start at one address; groups are numbered by address.

    order: the ranges, by their number in what the constructor was given, those of group 0 first
    """

    def __init__(self, start: np.ndarray, end: np.ndarray):
        order = np.argsort(start, kind="stable")
        self.order = order.astype(np.int32) if len(order) <= np.iinfo(np.int32).max else order
        sorted_start, ends = start[order], end[order]
        del order
        first = np.flatnonzero(np.append(True, sorted_start[1:] != sorted_start[:-1])[:len(ends)])
        self._bounds = np.append(first, len(ends)).astype(self.order.dtype)
        self.start = sorted_start[first]
        self.end = np.maximum.reduceat(ends, first) if len(first) else ends
        self._reach = np.maximum.accumulate(self.end)  # the farthest end of this and all before

    @cached_property
    def _ends(self) -> "_Maxima":
        return _Maxima(self.end)

    def members(self, group: int) -> list[int]:
        """The ranges of a group, by their number in what the constructor was given."""
        return self.order[self._bounds[group]:self._bounds[group + 1]].tolist()

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
        found[found] = self._reach_of_bytes[last[found]] > first[found]
        return found

    @cached_property
    def _reach_of_bytes(self) -> np.ndarray:
        """Like _reach, without empty groups."""
        has_bytes = self.end > self.start
        return self._reach if has_bytes.all() else np.maximum.accumulate(
            np.where(has_bytes, self.end, np.uint64(0)))

    def _last_behind(self, positions: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """For each position (or -1), the last group up to it that ends behind the address, else
        -1."""
        groups = np.full(len(positions), -1)
        some = np.flatnonzero(positions >= 0)
        some = some[self._reach[positions[some]] > addresses[some]]
        # Nearly always the group at the position.
        here = self.end[positions[some]] > addresses[some]
        groups[some[here]] = positions[some[here]]
        some = some[~here]
        if len(some):
            groups[some] = self._ends.last_above(positions[some], addresses[some])
        return groups


class _Maxima:
    """Numbers in a tree of pairwise maxima. Finds a number above a limit in logarithmic time: one
    large range can lie around a million small ones, which must not be passed one by one."""

    def __init__(self, numbers: np.ndarray):
        levels = [numbers]
        while len(levels[-1]) > 1:
            below = levels[-1]
            if len(below) % 2:
                below = levels[-1] = np.append(below, below.dtype.type(0))
            levels.append(np.maximum(below[::2], below[1::2]))
        self._begins = np.cumsum([0, *map(len, levels)])
        self._numbers = np.concatenate(levels)

    def last_above(self, positions: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """For each position the last one up to it whose number is above the limit, else -1."""
        found = np.full(len(positions), -1)
        which, node = np.arange(len(positions)), positions.astype(np.int64)
        level = np.zeros(len(positions), np.int64)
        down: list[tuple[np.ndarray, ...]] = []
        while len(which):  # to the left, in larger and larger steps
            above = self._at(level, node) > limits[which]
            down.append((which[above], node[above], level[above]))
            go_on = ~above & (node > 0)
            which, node, level = which[go_on], node[go_on] - 1, level[go_on]
            is_second = node % 2
            node, level = node >> is_second, level + is_second
        which, node, level = (np.concatenate(each) for each in zip(*down, strict=True))
        while len(which):  # and to the last one there
            there = level == 0
            found[which[there]] = node[there]
            which, node, level = which[~there], 2 * node[~there] + 1, level[~there] - 1
            node -= self._at(level, node) <= limits[which]
        return found

    def _at(self, level: np.ndarray, node: np.ndarray) -> np.ndarray:
        return self._numbers[self._begins[level] + node]
