"""What runs have touched, in numbers: the sums that thousands of traces are merged into.

A Resolver (addresses.py) gives each name of a linked file a number. Sums of numbers are arrays, in
which a name costs some 30 bytes for each octave of its positions (see format.py), for any number of
runs; names are made at the end, once each. All sums here are associative and commutative, as those
of profiles are, so that parts of the runs can be summed up anywhere, in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from frontload.base.arrays import np
from frontload.profile.startup_profile import (
    LONGEST_STRETCH,
    Name,
    Octave,
    Stretch,
    Touch,
    Touched,
    ranked,
)

# How much of a name was touched (format.Touched), one a row. All columns merge to the largest: the
# offset of the first byte is negated, and `untold` is 1 where no stretch counts.
_COLUMNS = "number", "size", "windows", "minus_first", "last", "untold"
_AMOUNT = np.dtype([(name, "i8") for name in _COLUMNS])
_OCTAVE = np.dtype([("number", "i8"), ("octave", "i8"), ("runs", "i8"), ("lowest", "i8")])
_BEGINS = np.array([1 << number for number in range(63)])  # where those from 1 on begin
_PENDING = 1 << 19  # rows to sum up together, which costs less than one by one


def no_amounts(count: int = 0) -> np.ndarray:
    return np.zeros(count, _AMOUNT)


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
        return TouchedNumbers(numbers, self.amounts[np.isin(self.amounts["number"], numbers)],
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
    amounts = amounts[np.argsort(amounts["number"])]
    first = _changes(amounts["number"])
    found = amounts[first]
    for name in _COLUMNS[1:]:
        found[name] = np.maximum.reduceat(amounts[name], first)
    return found


def _changes(key: np.ndarray) -> np.ndarray:
    """Where each value of a sorted key begins."""
    return np.flatnonzero(np.append(True, key[1:] != key[:-1])[:len(key)])


def touched_of(amounts: np.ndarray) -> dict[int, Touched]:
    """The amounts by number, in the form of a profile."""
    found = {}
    for number, size, windows, minus_first, last, untold in amounts.tolist():
        stretch = Stretch(-minus_first, last)
        is_told = not untold and stretch.size <= LONGEST_STRETCH
        found[number] = Touched(size, windows, stretch if is_told else None)
    return found


class Sum:
    """The touches of some runs of one linked file."""

    def __init__(self) -> None:
        self._octaves = np.empty(0, _OCTAVE)  # sorted by number and octave
        self._amounts = no_amounts()
        self._pending: list[tuple[np.ndarray, np.ndarray]] = []  # octaves and amounts

    def add(self, run: TouchedNumbers, weight: int = 1) -> None:
        """Adds one run, which counts as `weight` runs."""
        positions = np.arange(len(run.numbers))
        rows = np.empty(len(positions), _OCTAVE)
        rows["number"], rows["lowest"], rows["runs"] = run.numbers, positions, weight
        rows["octave"] = np.searchsorted(_BEGINS, positions, "right")
        self._add(rows, run.amounts)

    def merge(self, other: "Sum") -> None:
        """Adds the touches of other runs of the same file."""
        other.settle()
        self._add(other._octaves, other._amounts)

    def _add(self, octaves: np.ndarray, amounts: np.ndarray) -> None:
        self._pending.append((octaves, amounts))
        if sum(len(each) for each, _ in self._pending) > _PENDING:
            self.settle()

    def settle(self) -> None:
        """Sums up what is pending, which takes less room to keep or to send."""
        if not self._pending:
            return
        rows = np.concatenate([self._octaves, *(octaves for octaves, _ in self._pending)])
        key = rows["number"] * 64 + rows["octave"]
        order = np.argsort(key, kind="stable")
        first = _changes(key[order])
        self._octaves = rows[order[first]]
        if len(rows):
            for column, reduce in (("runs", np.add), ("lowest", np.minimum)):
                self._octaves[column] = reduce.reduceat(rows[column][order], first)
        self._amounts = most(np.concatenate(
            [self._amounts, *(amounts for _, amounts in self._pending)]))
        self._pending = []

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

    def touches(self, names: Sequence[Name], untold: Sequence[Touched]) -> dict[Name, Touch]:
        """The touches by name; the names are those of `numbers`. `untold`: what is known of each if
        no touch tells how much."""
        self.settle()
        rows = self._octaves
        first, ends = self._by_position()
        amounts = touched_of(self._amounts)
        octaves = list(map(Octave, *(rows[name].tolist() for name in ("octave", "runs", "lowest"))))
        touches: dict[Name, Touch] = {}
        for name, least, number, begin, end in zip(
                names, untold, rows["number"][first].tolist(), first.tolist(), ends.tolist(),
                strict=True):
            touch = ranked(tuple(octaves[begin:end]), amounts.get(number, least))
            # Of two numbers with one name each run has counted only one.
            touches[name] = touches[name].merged(touch) if name in touches else touch
        return touches
