"""A startup profile in memory: how many runs of a program touched which names, how early, and how
many bytes of each; and how the profiles of several runs are merged.

format.py defines these terms, and their form in a file.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from frontload.profile import generations as ages
from frontload.profile import kept_runs
from frontload.profile.block_counts import Blocks, Shape
from frontload.profile.generations import Generation
from frontload.profile.kept_runs import KeptRun, KeptRuns

KINDS = ("function", "data", "section", "string")
LONGEST_STRETCH = 16 * 1024
_SHARE = 20  # one of this many runs of a name decides how early it is

class Name(NamedTuple):
    """What an entry stands for; `file` is empty where the format has none."""

    kind: str
    section_class: str
    name: bytes
    file: bytes = b""

    @property
    def has_symbol(self) -> bool:
        """Whether this is the name of a symbol, as in linked files and order files."""
        return self.kind in ("function", "data")


class Stretch(NamedTuple):
    """The offsets of the first and the last touched byte, within a name."""

    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class Touched(NamedTuple):
    """How many bytes of a name were touched, the windows that cover them, and, where a large name
    was touched in one place only, that place. 0 bytes: unknown. `inlinable`: only builds with hooks
    touched it, and another build may have inlined it."""

    size: int = 0
    windows: int = 0
    stretch: Stretch | None = None
    inlinable: bool = False

    def merged(self, other: "Touched") -> "Touched":
        """For two runs: the most bytes and windows, and a stretch if one holds both."""
        if not self.size and not other.size:
            return other if self.inlinable else self
        if not self.size or not other.size:
            return self if self.size else other
        return Touched(max(self.size, other.size), max(self.windows, other.windows),
                       _united(self.stretch, other.stretch))


def _united(a: Stretch | None, b: Stretch | None) -> Stretch | None:
    if a is None or b is None:
        return None
    both = Stretch(min(a.first, b.first), max(a.last, b.last))
    return both if both.size <= LONGEST_STRETCH else None


class Octave(NamedTuple):
    """Positions of a name with `number` binary digits (0 has none): how many runs have it there,
    and the lowest of these positions."""

    number: int
    runs: int
    lowest: int


class Touch(NamedTuple):
    """How many runs touched a name, its rank, how much of it was touched, and the octaves of its
    positions if there are several. If its profile has generations, how many runs of each touched
    it; the rest is of the newest that did."""

    runs: int
    rank: int
    touched: Touched = Touched()
    spread: tuple[Octave, ...] = ()
    by_generation: tuple[int, ...] = ()

    def octaves(self) -> tuple[Octave, ...]:
        runs = self.by_generation[self.newest()] if self.by_generation else self.runs
        return self.spread or (Octave(self.rank.bit_length(), runs, self.rank),)

    def newest(self) -> int:
        """The newest of the profile's generations that touched it."""
        return next(place for place, runs in enumerate(self.by_generation) if runs)

    def times(self, weight: int) -> "Touch":
        """The same for `weight` times as many runs."""
        return self._replace(runs=weight * self.runs, spread=tuple(
            octave._replace(runs=weight * octave.runs) for octave in self.spread),
            by_generation=tuple(weight * runs for runs in self.by_generation))

    def among(self, places: list[int], count: int) -> "Touch":
        """The same in a profile of `count` generations, where each of its own has this place."""
        runs = [0] * count
        for place, number in zip(places, self.by_generation or (self.runs,), strict=True):
            runs[place] = number
        return self._replace(runs=ages.weighed(runs), by_generation=tuple(runs))

    def merged_by_generation(self, other: "Touch") -> "Touch":
        """The touch of two sets of runs that have the same generations."""
        runs = tuple(map(sum, zip(self.by_generation, other.by_generation, strict=True)))
        mine, theirs = self.newest(), other.newest()
        newer = self if mine < theirs else other
        if mine == theirs:
            newer = ranked(_together(self.octaves(), other.octaves()),
                           self.touched.merged(other.touched))
        return newer._replace(runs=ages.weighed(runs), by_generation=runs)

    def merged(self, other: "Touch", weight: int = 1) -> "Touch":
        """The touch of two sets of runs without generations; each run of the other counts as
        `weight` runs."""
        touched = self.touched.merged(other.touched)
        if not self.spread and not other.spread and \
                self.rank.bit_length() == other.rank.bit_length():  # nearly always
            return Touch(self.runs + weight * other.runs, min(self.rank, other.rank), touched)
        return ranked(_together(self.octaves(), other.octaves(), weight), touched)


def _together(mine: tuple[Octave, ...], theirs: tuple[Octave, ...],
              weight: int = 1) -> tuple[Octave, ...]:
    octaves = {octave.number: octave for octave in mine}
    for number, runs, lowest in theirs:
        known = octaves.get(number, Octave(number, 0, lowest))
        octaves[number] = Octave(number, known.runs + weight * runs, min(known.lowest, lowest))
    return tuple(octaves[number] for number in sorted(octaves))


def ranked(octaves: tuple[Octave, ...], touched: Touched) -> Touch:
    """The touch that has these octaves, from the lowest on."""
    runs, up_to = sum(octave.runs for octave in octaves), 0
    for octave in octaves:
        up_to += octave.runs
        if _SHARE * up_to >= runs:
            break
    return Touch(runs, octave.lowest, touched, octaves if len(octaves) > 1 else ())


@dataclass
class Profile:
    """The runs count by generation, if there are any: a profile without generations has one,
    without a label."""

    program: bytes
    runs: int
    touches: dict[Name, Touch] = field(default_factory=dict)
    data_runs: int = 0
    knows_cold_parts: bool = True
    generations: tuple[Generation, ...] = ()
    kept: KeptRuns[Name] = field(default_factory=KeptRuns)
    blocks: Blocks[Shape] = field(default_factory=Blocks)

    def in_order(self) -> list[tuple[Name, Touch]]:
        """The entries in the order of the file."""
        entries = list(self.touches.items())
        return [entries[index] for index in self.order()]

    def order(self) -> list[int]:
        """The same by their positions in `touches`."""
        keys = [(touch.rank, -touch.runs, name) for name, touch in self.touches.items()]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def add(self, other: "Profile", weight: int = 1) -> None:
        """Merges `other`, a profile of the same program, into this one; each of its runs counts as
        `weight` runs."""
        self.blocks.add(other.blocks, weight)
        if self.generations or other.generations:
            self._add_generations(other, weight)
            return
        self.runs += weight * other.runs
        self.data_runs += weight * other.data_runs
        self.knows_cold_parts &= other.knows_cold_parts
        self.kept.merge(other.kept, weight)
        for name, touch in other.touches.items():
            mine = self.touches.get(name)
            if mine is not None:
                self.touches[name] = mine.merged(touch, weight)
            else:
                self.touches[name] = touch if weight == 1 else touch.times(weight)

    def all_generations(self) -> tuple[Generation, ...]:
        """The generations, also the one of a profile that has no others."""
        return self.generations or ages.united(
            [Generation(b"", self.runs, self.data_runs, self.knows_cold_parts)])

    def recorded_runs(self) -> int:
        """How many runs there are, each counted once."""
        return sum(each.runs for each in self.all_generations())

    def has_faded(self, name: Name) -> bool:
        """Whether only older generations touched a name, of those that could. Then it may also be
        gone from the program."""
        newest = next((place for place, each in enumerate(self.generations)
                       if name.kind == "function" or each.data_runs), 0)
        return bool(self.generations) and self.touches[name].newest() > newest

    def label(self, label: bytes) -> None:
        """Makes all runs of a profile without generations those of one."""
        self._set_generations(ages.united(
            [each._replace(label=label) for each in self.all_generations()]))
        self.touches = {name: touch.among([0], 1) for name, touch in self.touches.items()}
        for counts in self.blocks.values():
            counts.newest = label

    def keep_generations(self, count: int) -> tuple[list[Generation], int]:
        """Leaves out the oldest generations; returns them, and how many names only they had."""
        left_out = list(self.generations[count:])
        if not left_out:
            return [], 0
        before = len(self.touches)
        kept = list(range(count))
        self._set_generations(self.generations[:count])
        self.kept = self.kept.aged([*kept, *[None] * len(left_out)])
        self.touches = {name: touch._replace(by_generation=touch.by_generation[:count])
                        .among(kept, count)
                        for name, touch in self.touches.items() if any(touch.by_generation[:count])}
        labels = {each.label for each in self.generations}
        self.blocks = Blocks({shape: counts for shape, counts in self.blocks.items()
                              if counts.newest in labels})
        self._leave_out_blocks()
        return left_out, before - len(self.touches)

    def _set_generations(self, generations: tuple[Generation, ...]) -> None:
        self.generations = generations
        self.runs = ages.weighed([each.runs for each in generations])
        self.data_runs = ages.weighed([each.data_runs for each in generations])
        self.knows_cold_parts = all(each.knows_cold_parts for each in generations)

    def _add_generations(self, other: "Profile", weight: int) -> None:
        parts = self.all_generations(), ages.times(other.all_generations(), weight)
        whole = ages.united([*parts[0], *parts[1]])
        place_of = {each.label: place for place, each in enumerate(whole)}
        mine, theirs = ([place_of[each.label] for each in part] for part in parts)
        self._set_generations(whole)
        self.kept = self.kept.aged(mine)
        self.kept.merge(other.kept.aged(theirs), weight)
        self.touches = {name: touch.among(mine, len(whole)) for name, touch in self.touches.items()}
        for name, touch in other.touches.items():
            touch = touch.times(weight).among(theirs, len(whole))
            known = self.touches.get(name)
            self.touches[name] = touch if known is None else known.merged_by_generation(touch)

    def leave_out_rare(self, share: float) -> int:
        """Removes names touched by less than this share of the runs that could; returns how many.
        To be done when all runs are merged, or a part would lose names that others have."""
        if not share:
            return 0
        kept = {name: touch for name, touch in self.touches.items()
                if touch.runs >= share * self.limit(name.kind)}
        left_out = len(self.touches) - len(kept)
        self.touches = kept
        self.kept.touches = {name: word for name, word in self.kept.touches.items() if name in kept}
        self._leave_out_blocks()
        return left_out

    def _leave_out_blocks(self) -> None:
        """Leaves out the blocks of functions that are gone."""
        functions = {(name.name, name.file) for name in self.touches if name.kind == "function"}
        self.blocks = Blocks({shape: counts for shape, counts in self.blocks.items()
                              if (shape.name, shape.file) in functions})

    def limit(self, kind: str) -> int:
        """How many runs could have touched a name of this kind."""
        return self.runs if kind == "function" else self.data_runs

    def weight_of_kept(self, word: int) -> int:
        """How many runs these kept runs count as."""
        return self.kept.weight(word, len(self.generations))


def from_run(program: bytes, names: Iterable[Name] | Mapping[Name, Touched],
             data: bool = False) -> Profile:
    """The profile of one run, from the names it touched in order; repetitions do not count.

    names: may map them to how much of each was touched
    data: whether the run recorded data, even if it touched none that has a name
    """
    known = names if isinstance(names, Mapping) else {}
    touches: dict[Name, Touch] = {}
    for name in names:
        if name not in touches:
            touches[name] = Touch(1, len(touches), known.get(name, Touched()))
    data = data or any(name.kind != "function" for name in touches)
    parts = (part for name in touches for part in name)
    run = KeptRun(kept_runs.identify(data, map(os.fsencode, parts)), 1, data)
    return Profile(program, 1, touches, int(data), kept=KeptRuns([run], dict.fromkeys(touches, 1)))
