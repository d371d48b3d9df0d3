"""Holds a generated program to the guarantee: whatever it is, and however its training fits, no
trained run reads more with a front than without."""

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from built import Bench, Linked, train
from frontload.profile import format as profile
from generated import LARGE, LEAVES_AT_ONCE, TASTES, Part, Program, make, next_build
from reading import DEVICES, Excess, Reading, excess, more_filling, predicted, slower
from training import LOSSES, without

WITHOUT_PREFETCH = 4  # of so many programs one is also looked at where nobody prefetches


@dataclass(frozen=True)
class Case:
    """A generated program and how it is trained: by numbers, so that a process can be told."""

    taste: str
    seed: int
    loss: str = "exact"
    is_older: bool = False  # an older build was trained
    has_data: bool = True  # the training recorded data, not only functions

    def __str__(self) -> str:
        older = " of an older build" * self.is_older
        functions = " of functions" * (not self.has_data)
        return f"{self.taste} {self.seed}, {self.loss} training{functions}{older}"


@dataclass(frozen=True)
class Pair:
    """A program linked without a front, with one that it asks for, and with one that nobody asks
    for; and what of it the training did not know."""

    plain: Linked
    front: Linked
    unasked: Linked | None
    folder: Path
    unknown: frozenset[Part] = frozenset()

    def readings(self, linked: Linked, *options: str,
                 devices: Sequence[str] = ("ssd",)) -> list[Reading]:
        """What each trained run reads."""
        traces = [linked.trace(self.folder / f"{linked.path.parent.name}-{run}", run,
                               lost=self.unknown) for run in range(len(linked.program.runs))]
        return predicted(linked.path, traces, *options, devices=devices)

    def filled(self, linked: Linked) -> int:
        """The bytes more that fill pages."""
        return more_filling(self.plain.path, linked.path)

    @property
    def prefetch(self) -> str:
        """A library is asked for by its program."""
        return "--prefetched=front" if self.front.program.kind == "shared" else "--prefetched=auto"


def check(judge: Callable[..., list[Excess]], cases: Iterable, unforeseen: float,
          worst: float) -> None:
    """`judge` finds nothing, or only in a share `unforeseen` of the cases, and nothing that is more
    than `worst` times as much."""
    found = [judge(case) for case in cases]
    problems = [problem for each in found for problem in each]
    told = "\n".join(map(str, problems))
    assert sum(map(bool, found)) <= unforeseen * len(found), told
    assert all(problem.ratio <= worst for problem in problems), told


def judge(case: Case) -> list[Excess]:
    """What it reads more."""
    program = make(case.seed, (TASTES | {"large": LARGE})[case.taste])
    with _silent_folder() as folder:
        return [problem.of(f"{case} ({program.describe()})")
                for problem in _judge(link_pair(case, program, folder))]


def judge_seconds(seed: int) -> list[Excess]:
    """Where a program of which a run leaves at once starts more slowly."""
    program = make(seed, LEAVES_AT_ONCE)
    random = Random(seed)
    weights = [random.choice((1, 1, 3, 10)) for _ in program.runs]
    case = Case("leaves at once", seed)
    with _silent_folder() as folder:
        pair = link_pair(case, program, folder, weights)
        plain = pair.readings(pair.plain, devices=DEVICES)
        front = pair.readings(pair.front, pair.prefetch, devices=DEVICES)
        return [problem.of(f"{case} ({program.describe()}): run {run} of weight {weights[run]}")
                for run in range(len(plain))
                for problem in slower(plain[run], front[run], pair.filled(pair.front))]


@contextlib.contextmanager
def _silent_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="guarantee-") as folder, \
            contextlib.redirect_stderr(io.StringIO()):
        yield Path(folder)


def link_pair(case: Case, program: Program, folder: Path, weights: Sequence[int] = ()) -> Pair:
    """Trains a program, and links it with and without a front."""
    trained, link_map = Bench(_new(folder / "trained"), program), folder / "trained" / "app.map"
    plain = trained.plain(f"-Map={link_map}")
    random = Random(case.seed)
    lost = {part for part in program.parts if random.random() < LOSSES[case.loss]}
    startup = without(train(plain, link_map, folder, case.has_data, weights), lost)
    bench = trained
    if case.is_older:
        later = next_build(program, case.seed)
        bench = Bench(_new(folder / "built"), later)
        plain = bench.plain()
        # What has another name is new to it.
        lost = {part for old, part in zip(program.parts, later.parts, strict=False)
                if old in lost or old.name != part.name}
    (folder / "app.startup").write_bytes(profile.to_bytes(startup))
    front = bench.front(folder / "app.startup", "--front-prefetch")
    unasked = (bench.front(folder / "app.startup", name="unasked")
               if case.seed % WITHOUT_PREFETCH == 0 else None)
    return Pair(plain, front, unasked, folder, frozenset(lost))


def _judge(pair: Pair) -> list[Excess]:
    files = {pair.prefetch: pair.front}
    if pair.unasked:
        files["--prefetched=none"] = pair.unasked
    plain = pair.readings(pair.plain)
    return [problem.of(f"run {run}, {option}")
            for option, linked in files.items()
            for run, reading in enumerate(pair.readings(linked, option))
            for problem in excess(plain[run], reading, pair.filled(linked))]


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder
