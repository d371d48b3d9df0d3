"""What runs have touched, in numbers: the sums that thousands of traces are merged into.

A Resolver (addresses.py) gives each name of a linked file a number. Sums of numbers are arrays, in
which a name costs some 30 bytes for each octave of its positions (see format.py), for any number of
runs; names are made at the end, once each. All sums here are associative and commutative, as those
of profiles are, so that parts of the runs can be summed up anywhere, in any order.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from frontload.profile.startup_profile import (
    LONGEST_STRETCH,
    Name,
    Octave,
    Stretch,
    Touch,
    Touched,
    named_tuples,
    ranked,
)

# How much of a name was touched (format.Touched), one a row. All columns merge to the largest: the
# offset of the first byte is negated, and `untold` is 1 where no stretch counts.
NUMBER, SIZE, WINDOWS, MINUS_FIRST, LAST, UNTOLD = range(6)
_OCTAVE = np.dtype([("number", "i8"), ("octave", "i8"), ("runs", "i8"), ("lowest", "i8")])
_PENDING = 1 << 19  # amounts to merge together, which costs less than one by one
_FAR = np.int32((1 << 31) - 1)  # behind all positions


def no_amounts(count: int = 0) -> np.ndarray:
    return np.zeros((count, 6), np.int64)


@dataclass(frozen=True)
class TouchedNumbers:
    """The touches of one process, or one run: numbers in order of first touch, each once, and the
    known amounts."""

    numbers: np.ndarray
    amounts: np.ndarray = field(default_factory=no_amounts)
    nameless: int = 0  # touches without a name
    nameless_data: int = 0  # of these, touches of data

    def only(self, is_wanted: np.ndarray) -> "TouchedNumbers":
        """The touches of only the wanted numbers."""
        numbers = self.numbers[is_wanted]
        return TouchedNumbers(numbers, self.amounts[np.isin(self.amounts[:, NUMBER], numbers)],
                              self.nameless, self.nameless_data)


def in_order(numbers: np.ndarray) -> np.ndarray:
    """Each number once, where it comes first."""
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)]


def together(processes: list[TouchedNumbers]) -> TouchedNumbers:
    """The touches of the processes of one run."""
    if len(processes) == 1:
        return processes[0]
    return TouchedNumbers(in_order(np.concatenate([each.numbers for each in processes])),
                          most(np.concatenate([each.amounts for each in processes])))


def most(amounts: np.ndarray) -> np.ndarray:
    """The amounts merged as by Touched.merged, one for each number. A stretch that became too long
    is kept until a name is made of it, so that the order does not matter."""
    if not len(amounts):
        return amounts
    amounts = amounts[np.argsort(amounts[:, NUMBER])]
    return np.maximum.reduceat(amounts, _changes(amounts[:, NUMBER]), axis=0)


def _changes(key: np.ndarray) -> np.ndarray:
    """Where each value of a sorted key begins."""
    return np.flatnonzero(np.append(True, key[1:] != key[:-1])[:len(key)])


def touched_of(amounts: np.ndarray) -> dict[int, Touched]:
    """The amounts by number, in the form of a profile."""
    return dict(zip(amounts[:, NUMBER].tolist(), _made(amounts), strict=True))


def _made(amounts: np.ndarray) -> list[Touched]:
    """The amounts in the form of a profile; equal ones are one object."""
    told = amounts[:, SIZE:]
    order = np.lexsort(told.T)  # np.unique of rows takes four times as long
    told = told[order]
    is_new = np.append(True, (told[1:] != told[:-1]).any(axis=1))[:len(told)]
    which = np.empty(len(told), np.int64)
    which[order] = np.cumsum(is_new) - 1
    made = []
    for size, windows, minus_first, last, untold in told[is_new].tolist():
        stretch = Stretch(-minus_first, last)
        made.append(Touched(size, windows, None if untold or stretch.size > LONGEST_STRETCH
                            else stretch))
    return [made[number] for number in which.tolist()]


class Sum:
    """The touches of some runs of one linked file."""

    def __init__(self) -> None:
        self._octaves = np.empty(0, _OCTAVE)  # sorted by number and octave
        self._amounts = no_amounts()
        self._pending: list[np.ndarray] = []  # amounts
        self._runs = _Runs()

    def add(self, run: TouchedNumbers, weight: int = 1) -> None:
        """Adds one run, which counts as `weight` runs."""
        self._runs.add(run.numbers, weight)
        self._add_amounts(run.amounts)

    def merge(self, other: "Sum") -> None:
        """Adds the touches of other runs of the same file."""
        other.settle()
        self._add_octaves(other._octaves)
        self._add_amounts(other._amounts)

    def settle(self) -> None:
        """Sums up pending amounts, which takes less room to keep or to send."""
        self._add_octaves(self._runs.octaves())
        self._runs = _Runs()
        if self._pending:
            self._amounts = most(np.concatenate([self._amounts, *self._pending]))
            self._pending = []

    def _add_amounts(self, amounts: np.ndarray) -> None:
        if len(amounts):
            self._pending.append(amounts)
        if sum(map(len, self._pending)) > _PENDING:
            self.settle()

    def _add_octaves(self, rows: np.ndarray) -> None:
        if not len(self._octaves) or not len(rows):
            self._octaves = rows if len(rows) else self._octaves
            return
        rows = np.concatenate([self._octaves, rows])
        key = rows["number"] * 64 + rows["octave"]
        order = np.argsort(key, kind="stable")  # fast for two parts that are sorted
        first = _changes(key[order])
        self._octaves = rows[order[first]]
        for column, reduce in (("runs", np.add), ("lowest", np.minimum)):
            self._octaves[column] = reduce.reduceat(rows[column][order], first)

    def runs(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers, and how many runs touched each."""
        self.settle()
        if not len(self._octaves):
            return self._octaves["number"], self._octaves["runs"]
        first = _changes(self._octaves["number"])
        return (self._octaves["number"][first],
                np.add.reduceat(self._octaves["runs"], first))

    def numbers(self) -> np.ndarray:
        """The touched numbers, by their lowest positions: nearly in the order of a profile."""
        self.settle()
        return self._octaves["number"][self._by_position()[0]]

    def _by_position(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the octaves of each number begin and end, by its lowest position."""
        first = _changes(self._octaves["number"])
        ends = np.append(first[1:], len(self._octaves))[:len(first)]
        order = np.argsort(self._octaves["lowest"][first])
        return first[order], ends[order]

    def touches(self, names: Sequence[Name]) -> dict[Name, Touch]:
        """The touches by name; the names are those of `numbers`."""
        self.settle()
        rows = self._octaves
        first, ends = self._by_position()
        # Untouched numbers have no amounts. Both are sorted by number here.
        by_number = np.argsort(rows["number"][first])
        places = by_number[np.searchsorted(rows["number"][first[by_number]],
                                           self._amounts[:, NUMBER])]
        # From iterators, since NumPy would make a row of a tuple in a list.
        touched = np.fromiter(itertools.repeat(Touched(), len(first)), object, len(first))
        touched[places] = np.fromiter(_made(self._amounts), object, len(places))
        # Most names have one octave, and no two have the same name.
        nothing = [()] * len(first)
        columns = rows["runs"][first], rows["lowest"][first], touched
        found = list(named_tuples(Touch, *(each.tolist() for each in columns), nothing, nothing))
        for index in np.flatnonzero(ends - first > 1).tolist():
            octaves = rows[["octave", "runs", "lowest"]][first[index]:ends[index]].tolist()
            found[index] = ranked(tuple(Octave(*row) for row in octaves), found[index].touched)
        touches = dict(zip(names, found, strict=True))
        if len(touches) < len(found):
            touches = {}
            for name, touch in zip(names, found, strict=True):
                # Of two numbers with one name each run has counted only one.
                touches[name] = touches[name].merged(touch) if name in touches else touch
        return touches


class _Runs:
    """Runs that are being added up: a table for each octave, so that a run costs no sorting. A name
    gets the next row when it is first seen, so that tables fill from their beginning."""

    def __init__(self) -> None:
        self._row = np.zeros(0, np.int32)  # of each number, from 1 on
        self._numbers = np.zeros(0, np.int64)  # of each row
        self._used = 0
        self._tables: list[tuple[np.ndarray, np.ndarray]] = []  # runs, and how far before _FAR

    def add(self, numbers: np.ndarray, weight: int) -> None:
        rows = self._rows(numbers)
        for octave in range(len(rows) and (len(rows) - 1).bit_length() + 1):
            if octave == len(self._tables):
                self._tables.append((np.zeros(0, np.int64), np.zeros(0, np.int32)))
            runs, before = (_longer(table, self._used) for table in self._tables[octave])
            self._tables[octave] = runs, before
            first = 1 << octave >> 1
            mine = rows[first:1 << octave]  # whose positions have `octave` binary digits
            runs[mine] += weight
            positions = np.arange(first, first + len(mine), dtype=np.int32)
            before[mine] = np.maximum(before[mine], _FAR - positions)

    def _rows(self, numbers: np.ndarray) -> np.ndarray:
        if not len(numbers):
            return numbers
        self._row = _longer(self._row, int(numbers.max()) + 1)
        new = numbers[self._row[numbers] == 0]
        end = self._used + len(new)
        self._numbers = _longer(self._numbers, end)
        self._numbers[self._used:end] = new
        self._row[new] = np.arange(self._used + 1, end + 1)
        self._used = end
        return self._row[numbers] - 1

    def octaves(self) -> np.ndarray:
        parts = [np.empty(0, _OCTAVE)]
        for octave, (runs, before) in enumerate(self._tables):
            found = np.flatnonzero(runs)
            part = np.empty(len(found), _OCTAVE)
            part["number"], part["octave"] = self._numbers[found], octave
            part["runs"], part["lowest"] = runs[found], _FAR - before[found]
            parts.append(part)
        rows = np.concatenate(parts)
        return rows[np.argsort(rows["number"] * 64 + rows["octave"])]


def _longer(table: np.ndarray, size: int) -> np.ndarray:
    """A table of at least this size; new rows are 0."""
    if size <= len(table):
        return table
    longer = np.zeros(max(size, 2 * len(table)), table.dtype)
    longer[:len(table)] = table
    return longer
