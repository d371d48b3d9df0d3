"""Measures starts: which runs are made, in which order, from which state of the page cache.

variant    one program (or one way to call it) among those that are compared; the first is the base
condition  cold, selectively cold or warm: see conditions.py
round      one run of every variant; comparisons are made within rounds

Rounds come in pairs. The first of a pair runs the variants in a shuffled order (from a fixed seed),
the second in the reverse of it: a machine that slowly speeds up or down favours nobody.

This module decides and collects. The command is run by launcher.py, the page cache is handled by
pagecache/; both are handed in, so that the tests can put something that is not there in their
place.
"""

import hashlib
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from frontload.base.errors import EXIT_VERDICT, HOW_TO_RUN, Failure
from frontload.base.missing import Missing
from frontload.base.scratch import scratch_folder
from frontload.machine import host as measure_host
from frontload.measure.conditions import COLD, SELECTIVELY_COLD, WARM, Conditions, FileState
from frontload.measure.launcher import Sample
from frontload.measure.sections import Section, bytes_per_section, file_sections
from frontload.pagecache import residency as pagecache
from frontload.pagecache.residency import Residency

RUNS = 50  # of each variant in each condition, as in the classic studies of cold starts
STDOUT = "stdout"  # an output to compare that is not a file


@dataclass(frozen=True)
class Variant:
    name: str
    command: tuple[str, ...]
    files: tuple[str, ...]  # the named files
    seen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    variants: tuple[Variant, ...]
    conditions: tuple[str, ...] = (SELECTIVELY_COLD, WARM)
    runs: int = RUNS
    warmup: int = 1
    seed: int = 1
    evict_seen: bool = False  # also when selectively cold
    allow_warm: bool = False
    ignore_failure: bool = False
    compare: tuple[str, ...] = ()  # STDOUT, or files that the command writes


@dataclass(frozen=True)
class Run:
    variant: str
    condition: str
    round: int
    position: int  # within the round
    sample: Sample
    files: dict[str, FileState]
    outputs: dict[str, str] = field(default_factory=dict)  # SHA-256, or "missing"

    def total(self, figure: Callable[[Residency], int]) -> int | None:
        """A figure of what the run read, added up over the files; None if unknown for one."""
        read = [state.read for state in self.files.values()]
        return None if None in read else sum(figure(residency) for residency in read)

    @property
    def label(self) -> str:
        """The condition that the run really met."""
        before = [state.before for state in self.files.values() if state.named]
        if None in before:
            return f"{self.condition}, not verified"
        if self.condition != WARM and any(residency.resident_pages for residency in before):
            return "not cold"
        return self.condition


@dataclass(frozen=True)
class Measurement:
    plan: Plan
    runs: list[Run]
    sections: dict[str, list[Section]]
    places: dict[str, dict]  # for each file what measure_host.describe_file says
    host: dict  # as measure_host.describe_host says
    device: dict | None = None  # of its own, that the files were copied to
    missing: list[Missing] = field(default_factory=list)

    def of(self, variant: str, condition: str) -> list[Run]:
        """The runs of one variant in the order of rounds."""
        return [run for run in self.runs if (run.variant, run.condition) == (variant, condition)]

    def sections_read(self, variant: str, condition: str) -> dict[str, dict[str, float]]:
        """For each file the median number of bytes read from each of its sections."""
        runs = self.of(variant, condition)
        found = {}
        for path in runs[0].files:
            reads = [run.files[path].read for run in runs]
            if None in reads:
                continue
            counts = [bytes_per_section(read, self.sections[path]) for read in reads]
            names = dict.fromkeys(name for count in counts for name in count)
            found[path] = {name: float(np.median([count.get(name, 0) for count in counts]))
                           for name in names}
        return found

    def differing_outputs(self) -> list[str]:
        """The compared outputs that were not the same in every run."""
        return [output for output in self.plan.compare
                if len({run.outputs[output] for run in self.runs}) > 1]


def make_variants(command: Sequence[str], binaries: Sequence[tuple[str, str]],
                  evict: Sequence[str], name: str | None = None) -> tuple[Variant, ...]:
    """The variants of a command in which `{}` stands for each binary (`evict` too).

    Without binaries the command is the only variant, and is its own binary.
    """
    if not binaries:
        return (Variant(name or os.path.basename(command[0]), tuple(command),
                        _files(evict or ["{}"], command[0])),)
    names = [label for label, _ in binaries]
    if len(set(names)) < len(names):
        raise Failure("--variant: two variants have the same name",
                      note="name each of them: --variant before=FILE --variant after=FILE")
    if not any("{}" in argument for argument in command):
        raise Failure("the command has no {}, so all variants would run the same program",
                      note="write {} where the variant's binary belongs: -- {} ARGUMENTS")
    # A binary is a file rather than a command, so PATH is only for what is none.
    paths = [(label, os.path.join(".", binary) if os.path.isfile(binary) and "/" not in binary
              else binary)
             for label, binary in binaries]
    return tuple(
        Variant(label, tuple(argument.replace("{}", path) for argument in command),
                _files(evict or ["{}"], path))
        for label, path in paths)


def _files(patterns: Sequence[str], binary: str) -> tuple[str, ...]:
    found = shutil.which(binary)
    if found is None:
        raise Failure(f"{binary}: is not a program that can be run", note=HOW_TO_RUN)
    return tuple(dict.fromkeys(pattern.replace("{}", found) for pattern in patterns))


def orders(count: int, rounds: int, seed: int) -> Iterator[list[int]]:
    """The order of the variants in each round."""
    shuffler = random.Random(seed)
    order = list(range(count))
    for number in range(rounds):
        if number % 2 == 0:
            shuffler.shuffle(order)
        else:
            order.reverse()
        yield list(order)


def count_runs(plan: Plan) -> int:
    warm_ups = 1 + (COLD in plan.conditions[:-1])
    return len(plan.variants) * (plan.warmup * warm_ups + plan.runs * len(plan.conditions))


def measure(plan: Plan, launcher, cache=pagecache,
            progress: Callable[[str], None] = lambda doing: None) -> Measurement:
    """Makes all runs of a plan. `progress` is told before each one what it is."""
    conditions = Conditions(cache, allow_warm=plan.allow_warm, evict_seen=plan.evict_seen)
    named = dict.fromkeys(file for variant in plan.variants for file in variant.files)
    conditions.check(named, plan.conditions)
    observed = named | dict.fromkeys(file for variant in plan.variants for file in variant.seen)
    sections = {file: file_sections(file) for file in observed}
    places = {file: measure_host.describe_file(file) for file in observed}
    runs = []
    with scratch_folder("frontload-measure.") as scratch:
        def warm_up() -> None:
            for variant in plan.variants:
                for number in range(plan.warmup):
                    progress(f"warm-up {number + 1} of {variant.name}")
                    _start(variant, plan, launcher, scratch)

        for earlier, condition in zip((None, *plan.conditions), plan.conditions, strict=False):
            if earlier in (None, COLD):
                warm_up()  # also after the libraries, which nobody has named, were dropped
            for number, order in enumerate(orders(len(plan.variants), plan.runs, plan.seed)):
                for position, index in enumerate(order):
                    variant = plan.variants[index]
                    progress(f"{condition} run {number + 1} of {variant.name}")
                    before = conditions.bring_about(condition, variant.files, variant.seen)
                    sample, outputs = _start(variant, plan, launcher, scratch)
                    states = conditions.after(before, variant.files)
                    runs.append(Run(variant.name, condition, number, position, sample, states,
                                    outputs))
    missing = [_invisible(file) for file in conditions.invisible()]
    host = measure_host.describe_host()
    if host["frequency"] is None:
        missing.append(Missing("the processors' frequency", "this kernel does not tell it",
                               "a kernel with cpufreq, and no virtual machine"))
    return Measurement(plan, runs, sections, places, host, missing=missing)


def _invisible(file: str) -> Missing:
    return Missing(f"what was read of {file}, and whether it was in the page cache",
                   "the kernel tells it only to those who own the file or may write it",
                   "measure as its owner or as root, or measure a copy")


def _start(variant: Variant, plan: Plan, launcher, scratch: Path) -> tuple[Sample, dict[str, str]]:
    """One run; its outputs are removed before, so that what is there after is what it wrote."""
    stdout = scratch / "stdout"
    for output in plan.compare:
        if output != STDOUT:
            Path(output).unlink(missing_ok=True)
    # The program gets no pipe: a full one would stop it, and its reader would share its processor.
    with open(stdout if STDOUT in plan.compare else os.devnull, "wb") as sink:
        sample = launcher.run(variant.command, stdout=sink)
    if sample.failed and not plan.ignore_failure:
        raise Failure(sample.failure_of(variant.command[0]), code=EXIT_VERDICT,
                      note="--ignore-failure measures it all the same")
    return sample, {output: _digest(stdout if output == STDOUT else Path(output))
                    for output in plan.compare}


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return "missing"
