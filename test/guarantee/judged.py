"""Holds a generated program to the guarantee: whatever it is, and however its training fits, no
trained run reads more with a front than without."""

import contextlib
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from built import Bench, train
from frontload.profile import format as profile
from generated import TASTES, Program, make, next_build
from reading import excess, predicted
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


def judge(case: Case) -> list[str]:
    """What is wrong with it."""
    program = make(case.seed, TASTES[case.taste])
    with tempfile.TemporaryDirectory(prefix="guarantee-") as folder, \
            contextlib.redirect_stderr(io.StringIO()):
        return [f"{case} ({program.describe()}): {problem}"
                for problem in _judge(case, program, Path(folder))]


def _judge(case: Case, program: Program, folder: Path) -> list[str]:
    trained, link_map = Bench(_new(folder / "trained"), program), folder / "trained" / "app.map"
    plain = trained.plain(f"-Map={link_map}")
    random = Random(case.seed)
    lost = {part for part in program.parts if random.random() < LOSSES[case.loss]}
    startup = without(train(plain, link_map, folder, case.has_data), lost)
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
    runs = range(len(program.runs))
    without_front = predicted(plain.path, [plain.trace(folder / f"plain-{run}", run, lost=lost)
                                           for run in runs])
    traces = [front.trace(folder / f"front-{run}", run, lost=lost) for run in runs]
    # A library is asked for by its program.
    options = ["--prefetch=front" if program.kind == "shared" else "--prefetch=auto"]
    if case.seed % WITHOUT_PREFETCH == 0:
        options.append("--prefetch=none")
    return [f"run {run}, {option}: {problem}"
            for option in options
            for run, reading in enumerate(predicted(front.path, traces, option))
            for problem in excess(without_front[run], reading)]


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder
