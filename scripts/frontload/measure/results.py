"""What frontload measure says about its runs: figures, warnings and JSON."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np

from frontload import __version__
from frontload.measure import statistics as measure_statistics
from frontload.measure.conditions import WARM
from frontload.measure.rounds import Measurement, Run
from frontload.measure.statistics import Interval
from frontload.pagecache import mounts

SCHEMA = "frontload-measure/2"
VARIES = 0.02  # counts repeat to within this; more deserves a warning...
VARIES_BY = 2  # ...unless it is only this many

# Every figure of a run, by its name in JSON.
FIGURES: dict[str, Callable[[Run], int | None]] = {
    "major_faults": lambda run: run.sample.major_faults,
    "minor_faults": lambda run: run.sample.minor_faults,
    "read_bytes": lambda run: run.total(lambda read: read.resident_bytes),
    "read_runs": lambda run: run.total(lambda read: len(read.runs())),
    "max_rss_bytes": lambda run: run.sample.max_rss_kib * 1024,
    "wall_ns": lambda run: run.sample.wall_ns,
    "cpu_ns": lambda run: (run.sample.user_us + run.sample.system_us) * 1000,
}
TIMES = ("wall_ns", "cpu_ns")
# What must repeat from run to run. Peak memory and minor faults depend on the kernel's mood too
# (where it put the stack, which pages it mapped around a fault).
REPEATING = {"major_faults": "major faults", "read_bytes": "bytes read"}

METHOD = {
    "wall_ns": "CLOCK_MONOTONIC from just before exec until the process was reaped",
    "interval": "mean and 95% confidence interval by the bootstrap: BCa, "
                f"{measure_statistics.RESAMPLES} resamples from a fixed seed, scipy, expanded for "
                f"the number of runs; of fewer than {measure_statistics.ENOUGH} by Student's t, "
                "for costs by Welch's",
    "ratio": "geometric mean of the ratios within each round, interval as above, of logarithms",
    "difference": "mean of the differences within each round, interval as above",
    "costs": "mean of the cold runs less mean of the warm ones; excess: (cold - warm) less (cold - "
             "warm) of the base, from the differences within cold and within warm rounds; "
             "intervals as above",
    "outliers": "further from the median than 10 scaled median absolute deviations and than a "
                "tenth of it; reported, not removed",
    "read_bytes": "resident in the page cache after the run and not before, by mincore, up to the "
                  "file's end",
}


def figures(runs: Sequence[Run]) -> dict[str, dict]:
    """For every figure its median, least and most; for times mean, interval and outliers too.

    A figure that is unknown for one run is left out.
    """
    found = {}
    for name, figure in FIGURES.items():
        values = [figure(run) for run in runs]
        if None in values:
            continue
        found[name] = {"median": float(np.median(values)), "min": min(values), "max": max(values)}
        if name in TIMES:
            interval = measure_statistics.interval(values)
            found[name] |= {"mean": interval.estimate, "low": interval.low, "high": interval.high,
                            "outliers": [runs[index].round
                                         for index in measure_statistics.outliers(values)]}
    return found


def times(measurement: Measurement, variant: str, condition: str) -> list[int]:
    return [run.sample.wall_ns for run in measurement.of(variant, condition)]


def time_ratio(measurement: Measurement, condition: str, variant: str) -> Interval:
    """How the times of a variant compare with those of the first variant."""
    base = measurement.plan.variants[0].name
    return measure_statistics.ratio(*(times(measurement, name, condition)
                                      for name in (variant, base)))


def comparisons(measurement: Measurement) -> list[dict]:
    """The times of every variant against those of the first: their ratio, and their difference."""
    base, *others = (variant.name for variant in measurement.plan.variants)
    return [{"condition": condition, "variant": variant, "base": base, "figure": "wall_ns",
             **asdict(time_ratio(measurement, condition, variant)),
             "difference": asdict(measure_statistics.difference(
                 *(times(measurement, name, condition) for name in (variant, base))))}
            for condition in measurement.plan.conditions for variant in others]


def costs(measurement: Measurement) -> list[dict]:
    """What being cold costs each variant, and how much more than it costs the first one."""
    plan = measurement.plan
    base = plan.variants[0].name
    found = []
    for cold in plan.conditions:
        if cold == WARM or WARM not in plan.conditions:
            continue
        for variant in plan.variants:
            own = [times(measurement, variant.name, condition) for condition in (cold, WARM)]
            of_base = [times(measurement, base, condition) for condition in (cold, WARM)]
            found.append({
                "condition": cold, "variant": variant.name, "figure": "wall_ns",
                **asdict(measure_statistics.cost(*own)),
                "excess": None if variant.name == base else {
                    "base": base, **asdict(measure_statistics.excess(*own, *of_base))}})
    return found


def label(runs: Sequence[Run]) -> str:
    """The condition all runs met, or the worst that one of them met."""
    return next((run.label for run in runs if run.label != run.condition), runs[0].condition)


def stayed(runs: Sequence[Run]) -> list[dict]:
    """The seen files of which pages were in the cache before cold runs."""
    found = []
    for path, state in runs[0].files.items():
        left = [run.files[path].before.resident_pages for run in runs
                if not state.named and run.files[path].before is not None]
        if any(left) and runs[0].condition != WARM:
            found.append({"path": path, "pages": max(left), "of": state.before.pages.size,
                          "runs": sum(pages > 0 for pages in left)})
    return found


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
        found.append("whether the pages were in the cache is unknown, and so is what was read: the "
                     "kernel tells it only to the file's owner; measure a copy, or as root")
    elif met != runs[0].condition:
        most = max(sum(state.before.resident_pages for state in run.files.values() if state.named)
                   for run in runs)
        found.append(f"is not cold: up to {most} pages stayed in the page cache before a run")
    failed = [run for run in runs if run.sample.failed]
    if failed:
        found.append(f"{len(failed)} of {len(runs)} runs failed: {failed[0].variant} "
                     f"{failed[0].sample.how_it_ended()}")
    for name, text in REPEATING.items():
        values = [FIGURES[name](run) for run in runs]
        if runs[0].condition == WARM or None in values or np.ptp(values) <= VARIES_BY:
            continue
        spread = measure_statistics.spread(values)
        if spread > VARIES:
            found.append(f"{text} vary by {spread:.1%} ({min(values)} to {max(values)}); does the "
                         "program do the same each time?")
    times = [run.sample.wall_ns for run in runs]
    for index in measure_statistics.outliers(times):
        middle = float(np.median(times))
        unit = time_unit(middle)
        found.append(f"run {runs[index].round + 1} took {show_time(times[index], unit)} {unit}, "
                     f"far from the median of {show_time(middle, unit)} {unit}; it is kept. A "
                     "quieter machine or more --runs would help")
    if len(runs) < 2:
        found.append("a single run has no confidence interval; use --runs")
    return found


def time_unit(nanoseconds: float) -> str:
    return "s" if abs(nanoseconds) >= 1e9 else "ms"


def show_time(nanoseconds: float, unit: str) -> str:
    return f"{nanoseconds / 1e9:.3f}" if unit == "s" else f"{nanoseconds / 1e6:.2f}"


def to_json(measurement: Measurement) -> dict:
    """Everything that was seen, every single run included."""
    plan = measurement.plan
    results = []
    for condition in plan.conditions:
        for variant in plan.variants:
            runs = measurement.of(variant.name, condition)
            results.append({
                "variant": variant.name, "condition": condition, "label": label(runs),
                "figures": figures(runs),
                "stayed": [file | {"why": mounts.why_resident(file["path"])}
                           for file in stayed(runs)],
                "sections_read": measurement.sections_read(variant.name, condition),
                "runs": [_run_to_json(run) for run in runs]})
    named = {file for variant in plan.variants for file in variant.files}
    return {
        "schema": SCHEMA,
        "frontload": __version__,
        "host": measurement.host,
        "device": measurement.device,
        "plan": asdict(plan),
        "files": [place | {"named": file in named,
                           "sections": [asdict(section) for section in measurement.sections[file]]}
                  for file, place in measurement.places.items()],
        "method": METHOD,
        "results": results,
        "comparisons": comparisons(measurement),
        "costs": costs(measurement),
        "warnings": warnings(measurement),
        "missing": [asdict(missing) for missing in measurement.missing],
    }


def _run_to_json(run: Run) -> dict:
    files = {}
    for path, state in run.files.items():
        if state.read is None:
            files[path] = None
            continue
        files[path] = {
            "resident_pages_before": state.before.resident_pages,
            "resident_pages": state.after.resident_pages,
            "resident_bytes": state.after.resident_bytes,
            "read_bytes": state.read.resident_bytes,
            "read_runs": len(state.read.runs()),
            "read_pages": state.read.to_text(),  # first+pages of each run
        }
    return {"round": run.round, "position": run.position, "label": run.label,
            **asdict(run.sample), "files": files, "outputs": run.outputs}


def dump(document: dict) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()
