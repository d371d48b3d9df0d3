"""What runs have touched, in numbers: the sums that thousands of traces are merged into.

A Resolver (addresses.py) gives each name of a linked file a number. Sums of numbers are arrays, in
which a name costs some 30 bytes for each octave of its positions (format.py says what these are),
whatever the number of runs; names are made at the end, once each. All sums here are associative and
commutative, as those of profiles are, so that parts of the runs can be summed up in any order and
anywhere.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from frontload.profile.format import (
    LONGEST_STRETCH,
    Name,
    Octave,
    Stretch,
    Touch,
    Touched,
    ranked,
)

# How much of a name was touched (format.Touched): offsets of the first and last byte, which count
# only where `told`.
AMOUNT = np.dtype([("number", "i8"), ("size", "i8"), ("windows", "i8"), ("first", "i8"),
                   ("last", "i8"), ("told", "?")])
_OCTAVE = np.dtype([("number", "i8"), ("octave", "i8"), ("runs", "i8"), ("lowest", "i8")])
_PENDING = 1 << 20  # rows that wait to be summed up together: sorting costs less than at once


@dataclass(frozen=True)
class TouchedNumbers:
    """What one process, or one run, touched: numbers in order of first touch, each once, and the
    amounts of those of which any is known."""

    numbers: np.ndarray
    amounts: np.ndarray = field(default_factory=lambda: np.empty(0, AMOUNT))
    nameless: int = 0  # touches without a name
    nameless_data: int = 0  # of these, touches of data

    def only(self, is_wanted: np.ndarray) -> "TouchedNumbers":
        """What remains if only some of the numbers count."""
        numbers = self.numbers[is_wanted]
        return TouchedNumbers(numbers, self.amounts[np.isin(self.amounts["number"], numbers)],
                              self.nameless, self.nameless_data)


def in_order(numbers: np.ndarray) -> np.ndarray:
    """Each number once, where it comes first."""
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)]


def together(processes: list[TouchedNumbers]) -> TouchedNumbers:
    """What the processes of one run touched."""
    if len(processes) == 1:
        return processes[0]
    return TouchedNumbers(in_order(np.concatenate([each.numbers for each in processes])),
                          most(np.concatenate([each.amounts for each in processes])))


def most(amounts: np.ndarray) -> np.ndarray:
    """The amounts merged as Touched.merged does it, one for each number. A stretch that became too
    long is told as long as no name is made of it, so that the order does not matter."""
    if not len(amounts):
        return amounts
    amounts, first = _by(amounts["number"], amounts)
    merged = amounts[first]
    for column, reduce in (("size", np.maximum), ("windows", np.maximum), ("first", np.minimum),
                           ("last", np.maximum), ("told", np.logical_and)):
        merged[column] = reduce.reduceat(amounts[column], first)
    return merged


def _by(key: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows in the order of a key, and where each value of it begins."""
    order = np.argsort(key)
    key = key[order]
    return rows[order], np.flatnonzero(np.append(True, key[1:] != key[:-1]))


class Sum:
    """What some runs of one linked file touched."""

    def __init__(self):
        self._octaves = np.empty(0, _OCTAVE)
        self._amounts = np.empty(0, AMOUNT)
        self._pending: list[tuple[np.ndarray, np.ndarray]] = []
        self._waiting = 0

    def add(self, run: TouchedNumbers, weight: int = 1) -> None:
        """Adds one run, which counts as `weight` runs."""
        rows = np.empty(len(run.numbers), _OCTAVE)
        rows["number"] = run.numbers
        rows["lowest"] = np.arange(len(rows))
        rows["octave"] = np.frexp(rows["lowest"])[1]  # as int.bit_length has it
        rows["runs"] = weight
        self._add(rows, run.amounts)

    def merge(self, other: "Sum") -> None:
        """Adds what other runs of the same file touched."""
        other.settle()
        self._add(other._octaves, other._amounts)

    def _add(self, octaves: np.ndarray, amounts: np.ndarray) -> None:
        self._pending.append((octaves, amounts))
        self._waiting += len(octaves) + len(amounts)
        if self._waiting > _PENDING:
            self.settle()

    def settle(self) -> None:
        """Sums up what waits: there is less of it then, to keep or to send."""
        if not self._pending:
            return
        octaves, amounts = zip((self._octaves, self._amounts), *self._pending, strict=True)
        self._pending, self._waiting = [], 0
        self._amounts = most(np.concatenate(amounts))
        rows = np.concatenate(octaves)
        if len(rows):
            rows, first = _by(rows["number"] * 64 + rows["octave"], rows)
            self._octaves = rows[first]
            self._octaves["runs"] = np.add.reduceat(rows["runs"], first)
            self._octaves["lowest"] = np.minimum.reduceat(rows["lowest"], first)

    def touches(self, names: Callable[[Iterable[int]], list[Name]]) -> dict[Name, Touch]:
        """The touches by name, which `names` gives to numbers."""
        self.settle()
        amounts = touched_of(self._amounts)
        rows = self._octaves
        numbers, first = np.unique(rows["number"], return_index=True)
        octaves = [Octave(*row) for row in rows[["octave", "runs", "lowest"]].tolist()]
        ends = np.append(first[1:], len(rows))
        touches: dict[Name, Touch] = {}
        numbers = numbers.tolist()
        for number, name, start, end in zip(numbers, names(numbers), first.tolist(), ends.tolist(),
                                            strict=True):
            touch = ranked(tuple(octaves[start:end]), amounts.get(number, Touched()))
            # Of two numbers with one name each run has counted only one.
            touches[name] = touches[name].merged(touch) if name in touches else touch
        return touches


def touched_of(amounts: np.ndarray) -> dict[int, Touched]:
    """The amounts by number, as a profile has them."""
    return dict(zip(amounts["number"].tolist(), map(_touched, amounts.tolist()), strict=True))


def _touched(amount: tuple) -> Touched:
    _, size, windows, first, last, told = amount
    stretch = Stretch(first, last)
    return Touched(size, windows, stretch if told and stretch.size <= LONGEST_STRETCH else None)
