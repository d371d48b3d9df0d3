"""Some of the runs of a profile, and which names each of them touched.

Counts do not show whether the runs that touched one name also touched another. That decides what
belongs together, and what one start reads. So a profile keeps some of its runs: those with the
smallest hashes, a sample of all runs that does not depend on how profiles were merged (a bottom-k
sketch: Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007). A profile of up to
64 different runs keeps all of them. With generations, runs of the newest come first.
"""

import hashlib
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

from frontload.base.arrays import np

MOST = 64  # kept runs: one word has a bit for each
ID_DIGITS = 12

_KEPT = re.compile(rb"([0-9a-f]{%d}):([1-9][0-9]{0,18})(:data)?(?:@(0|[1-9][0-9]?))?" % ID_DIGITS)
_WORD = re.compile(rb"0|[1-9a-f][0-9a-f]{0,15}")

Key = TypeVar("Key", bound=Hashable)


class KeptRun(NamedTuple):
    """A run: the hash of what it did, the weight of all runs that did the very same, and the place
    of its generation among those of its profile, the newest first."""

    id: int
    weight: int
    has_data: bool
    age: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """The sort key of runs; runs with the same key are one."""
        return self.age, self.id

    def counts(self, generations: int) -> int:
        """How many runs it counts as in a profile of `generations` generations."""
        return self.weight << max(generations - 1 - self.age, 0)


def identify(has_data: bool, parts: Iterable[bytes]) -> int:
    """The id of a run of these parts, which may have recorded touches of data."""
    found = hashlib.blake2b(b"data" * has_data, digest_size=ID_DIGITS // 2)
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return int.from_bytes(found.digest(), "big")


class KeptNumbers:
    """Kept runs, each with the numbers of its touched names (touched.py), while many are being
    added."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[KeptRun, np.ndarray]] = {}

    def add(self, run: KeptRun, numbers: np.ndarray) -> None:
        if run.id in self._kept:
            mine, numbers = self._kept[run.id]
            run = run._replace(weight=run.weight + mine.weight)
        self._kept[run.id] = run, numbers.astype(np.int32)
        if len(self._kept) > 2 * MOST:
            self._leave_out()

    def merge(self, other: "KeptNumbers") -> None:
        for run, numbers in other._kept.values():
            self.add(run, numbers)

    def _leave_out(self) -> None:
        self._kept = {each: self._kept[each] for each in sorted(self._kept)[:MOST]}

    def named(self, numbers: np.ndarray, names: Sequence[Key]) -> "KeptRuns[Key]":
        """The same with the names of these numbers, each of which comes once, and which include all
        numbers here. Of two numbers with one name, a run may have touched either."""
        self._leave_out()
        words = np.zeros(len(numbers), np.uint64)
        order = np.argsort(numbers)
        ascending = numbers[order]
        for bit, (_, mine) in enumerate(self._kept.values()):
            words[order[np.searchsorted(ascending, mine)]] |= np.uint64(1 << bit)
        touches: dict[Key, int] = {}
        for name, word in zip(names, words.tolist(), strict=True):
            if word:
                touches[name] = touches.get(name, 0) | word
        return KeptRuns([run for run, _ in self._kept.values()], touches)


@dataclass
class KeptRuns(Generic[Key]):
    """Kept runs, and the names that any of them touched.

    runs     sorted by their keys
    touches  names, each with a word in which bit i stands for `runs[i]`
    """

    runs: list[KeptRun] = field(default_factory=list)
    touches: dict[Key, int] = field(default_factory=dict)

    def _has_room(self, run: KeptRun) -> bool:
        return len(self.runs) < MOST or run.key <= self.runs[-1].key

    def merge(self, other: "KeptRuns[Key]", weight: int = 1) -> None:
        """Adds other runs, each of which counts as `weight` runs. Associative and commutative."""
        if not any(map(self._has_room, other.runs)):
            return
        merged = {run.key: run for run in self.runs}
        for run in other.runs:
            known = merged.get(run.key, run._replace(weight=0))
            merged[run.key] = known._replace(weight=known.weight + weight * run.weight)
        runs = [merged[each] for each in sorted(merged)[:MOST]]
        place = {run.key: bit for bit, run in enumerate(runs)}
        mine, theirs = (_moved(each.touches, [place.get(run.key) for run in each.runs])
                        for each in (self, other))
        for name, word in theirs.items():
            mine[name] = mine.get(name, 0) | word
        self.runs, self.touches = runs, mine

    def of(self, has_data: bool) -> int:
        """The word of all runs that may have touched a name: data, only if they record it."""
        return sum(1 << bit for bit, run in enumerate(self.runs) if run.has_data or not has_data)

    def weight(self, word: int, generations: int = 1) -> int:
        """How many runs these count as."""
        return sum(run.counts(generations) for bit, run in enumerate(self.runs) if word >> bit & 1)

    def aged(self, places: Sequence[int | None]) -> "KeptRuns[Key]":
        """The same in a profile with other generations: `places` has the new place of each, or None
        if it is left out. The order of the others stays."""
        runs = [(bit, run._replace(age=age)) for bit, run in enumerate(self.runs)
                if (age := places[run.age]) is not None]
        to = {bit: place for place, (bit, _) in enumerate(runs)}
        return KeptRuns([run for _, run in runs],
                        _moved(self.touches, [to.get(bit) for bit in range(len(self.runs))]))

    def to_bytes(self, generations: int) -> bytes:
        """The runs as in the header."""
        return b" ".join(
            b"%0*x:%d" % (ID_DIGITS, run.id, run.counts(generations)) + b":data" * run.has_data
            + (b"@%d" % run.age if generations > 1 else b"") for run in self.runs)


def parse(text: bytes) -> list[KeptRun]:
    """Undoes KeptRuns.to_bytes, with counts as weights; raises ValueError for anything else."""
    words = text.split(b" ", MOST)
    if len(words) > MOST:
        raise ValueError(f"more than {MOST} kept runs")
    found = []
    for word in words:
        match = _KEPT.fullmatch(word)
        if not match:
            raise ValueError(f"`{word.decode('utf-8', 'replace')}` is not a kept run")
        found.append(KeptRun(int(match[1], 16), int(match[2]), bool(match[3]), int(match[4] or 0)))
    if any(run.key >= behind.key for run, behind in pairwise(found)):
        raise ValueError("the kept runs are not in their order")
    return found


def weighed(runs: Iterable[KeptRun], generations: int) -> KeptRuns[Key]:
    """The runs from `parse`, of a profile of `generations` generations, with their weights."""
    found = []
    for run in runs:
        each = run._replace(weight=1).counts(generations)
        if run.age >= max(generations, 1) or run.weight % each:
            raise ValueError(f"a kept run counts {run.weight}, in generation {run.age} of "
                             f"{generations}")
        found.append(run._replace(weight=run.weight // each))
    return KeptRuns(found)


def parse_word(text: bytes, could: int) -> int:
    """Which runs touched a name, from the text behind their number: empty if all did that could.
    Raises ValueError for anything else."""
    _, given, shown = text.partition(b"=")
    if not given:
        return could
    if not _WORD.fullmatch(shown):
        raise ValueError(f"`{shown.decode('utf-8', 'replace')}` does not stand for kept runs")
    word = int(shown, 16)
    if word & ~could:
        raise ValueError(f"`{shown.decode()}` stands for runs that could not have touched it")
    return word


def _moved(touches: dict[Key, int], places: list[int | None]) -> dict[Key, int]:
    """The same touches, with bit i moved to `places[i]`, or dropped; without names that have no bit
    left."""
    if places == list(range(len(places))):
        return dict(touches)
    known: dict[int, int] = {}  # most names have one of few words
    for word in set(touches.values()):
        known[word] = sum(1 << to for bit, to in enumerate(places)
                          if to is not None and word >> bit & 1)
    return {name: known[word] for name, word in touches.items() if known[word]}
