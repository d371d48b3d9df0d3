"""What a reader must know before trusting the figures of a measurement."""

from collections.abc import Sequence
from statistics import median

from frontload.measure import statistics
from frontload.measure.conditions import WARM, all_known
from frontload.measure.measurement import Measurement, Run
from frontload.measure.results import FIGURES, label, show_time, time_unit

VARIES = 0.02  # counts repeat to within this; a larger spread deserves a warning...
VARIES_BY = 2  # ...unless it is only this many
# Figures that must repeat from run to run. Peak memory and minor faults also depend on the kernel
# (where it put the stack, which pages it mapped around a fault).
REPEATING = {"major_faults": "major faults", "read_bytes": "bytes read"}


def warnings(measurement: Measurement) -> list[str]:
    """What a reader must know before he trusts the figures."""
    found = []
    for condition in measurement.plan.conditions:
        for variant in measurement.plan.variants:
            runs = measurement.of(variant.name, condition)
            found += [f"{variant.name}, {condition}: {text}" for text in _doubts(runs)]
    for output in measurement.differing_outputs():
        found.append(f"{output}: is not the same in all runs")
    return found


def _doubts(runs: Sequence[Run]) -> list[str]:
    found = []
    met = label(runs)
    if met.endswith("not verified"):
        found.append("unknown: whether the pages were in the cache, and what was read: the "
                     "kernel tells only the file's owner; measure a copy, or as root")
    elif met != runs[0].condition:
        most = max(sum(state.before.resident_pages for state in run.files.values()
                       if state.named and state.before) for run in runs)
        found.append(f"is not cold: up to {most} pages stayed in the page cache before a run")
    failed = [run for run in runs if run.sample.failed]
    if failed:
        found.append(f"{len(failed)} of {len(runs)} runs failed: {failed[0].variant} "
                     f"{failed[0].sample.how_it_ended()}")
    for name, text in REPEATING.items():
        values = all_known([FIGURES[name](run) for run in runs])
        if runs[0].condition == WARM or values is None or max(values) - min(values) <= VARIES_BY:
            continue
        spread = statistics.spread(values)
        if spread > VARIES:
            found.append(f"{text} vary by {spread:.1%} ({min(values)} to {max(values)}); does the "
                         "program do the same each time?")
    times = [run.sample.wall_ns for run in runs]
    for index in statistics.outliers(times):
        middle = float(median(times))
        unit = time_unit(middle)
        found.append(f"run {runs[index].round + 1} took {show_time(times[index], unit)} {unit}, "
                     f"far from the median of {show_time(middle, unit)} {unit}; it is kept. A "
                     "quieter machine or more --runs would help")
    if len(runs) < 2:
        found.append("a single run has no confidence interval; use --runs")
    return found
