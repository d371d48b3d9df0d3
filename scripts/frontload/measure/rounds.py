"""Measures starts: makes the runs of a plan, each from its state of the page cache.

launcher.py runs the command, and pagecache/ handles the page cache. Both are passed in, so tests
can replace them.
"""

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from frontload.base import files
from frontload.base.errors import EXIT_VERDICT, Diagnostics, Failure
from frontload.base.missing import Missing
from frontload.base.scratch import scratch_folder
from frontload.machine import host as measure_host
from frontload.measure.conditions import COLD, Conditions, FileState
from frontload.measure.launcher import Launcher, Sample
from frontload.measure.measurement import Measurement, Run
from frontload.measure.plan import STDOUT, Plan, Variant, orders
from frontload.pagecache import cache as pagecache


def measure(plan: Plan, launcher: Launcher, cache: ModuleType = pagecache,
            progress: Callable[[str], None] | None = None,
            diagnostics: Diagnostics | None = None) -> Measurement:
    """Makes all runs of a plan. `progress` gets a description of each before it."""
    progress = progress or (lambda doing: None)
    conditions = Conditions(cache, diagnostics, allow_warm=plan.allow_warm,
                            evict_seen=plan.evict_seen)
    named = dict.fromkeys(file for variant in plan.variants for file in variant.files)
    conditions.check(named, plan.conditions)
    observed = named | dict.fromkeys(file for variant in plan.variants for file in variant.seen)
    places = {file: measure_host.describe_file(file) for file in observed}
    runs = []
    with scratch_folder("frontload-measure.") as scratch:
        def warm_up() -> None:
            for variant in plan.variants:
                for number in range(plan.warmup):
                    progress(f"warm-up {number + 1} of {variant.name}")
                    _start(variant, plan, launcher, scratch)

        for variant in plan.variants:
            launcher.learn(variant.command)

        def one_run(variant: Variant, condition: str
                    ) -> tuple[Sample, dict[str, str], dict[str, FileState]]:
            before = conditions.bring_about(condition, variant.files, variant.seen)
            states: dict[str, FileState] = {}
            # Reads of a program while it is being ended do not count.
            sample, outputs = _start(variant, plan, launcher, scratch, at_ready=lambda:
                                     states.update(conditions.after(before, variant.files)))
            return sample, outputs, states

        for earlier, condition in zip((None, *plan.conditions), plan.conditions, strict=False):
            if earlier in (None, COLD):
                warm_up()  # again after libraries, which are not named files, were dropped
            for number, order in enumerate(orders(len(plan.variants), plan.runs, plan.seed)):
                for position, index in enumerate(order):
                    variant = plan.variants[index]
                    progress(f"{condition} run {number + 1} of {variant.name}")
                    sample, outputs, states = one_run(variant, condition)
                    runs.append(Run(variant.name, condition, number, position, sample, states,
                                    outputs))
    missing = [_invisible(file) for file in conditions.invisible()]
    host = measure_host.describe_host()
    if host["frequency"] is None:
        missing.append(Missing("the processors' frequency", "this kernel does not tell it",
                               "a kernel with cpufreq, and no virtual machine"))
    return Measurement(plan, runs, places, host, missing=missing)


def _invisible(file: str) -> Missing:
    return Missing(f"what was read of {file}, and whether it was in the page cache",
                   "the kernel tells only those who own the file or may write to it",
                   "measure as its owner or as root, or measure a copy")


def _start(variant: Variant, plan: Plan, launcher: Launcher, scratch: Path,
           at_ready: Callable[[], None] = lambda: None) -> tuple[Sample, dict[str, str]]:
    """One run; its outputs are removed before, so that those found afterwards are its own."""
    stdout = scratch / "stdout"
    for output in plan.compare:
        if output != STDOUT:
            Path(output).unlink(missing_ok=True)
    # The program gets no pipe: a full one would stop it, and its reader would share its processor.
    with open(stdout if STDOUT in plan.compare else os.devnull, "wb") as sink:
        sample = launcher.run(variant.command, sink, at_ready, variant.environment)
    if sample.failed and not plan.ignore_failure:
        raise Failure(sample.failure_of(variant.command[0]), code=EXIT_VERDICT,
                      note="--ignore-failure measures it anyway")
    return sample, {output: _digest(stdout if output == STDOUT else Path(output))
                    for output in plan.compare}


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return files.sha256(file)
    except FileNotFoundError:
        return "missing"
