"""The figures of a measurement: of each variant alone, and as compared with the first."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from statistics import median
from typing import TypedDict, cast

from frontload.base.typed import NotRequired
from frontload.measure import statistics as measure_statistics
from frontload.measure.conditions import WARM, all_known
from frontload.measure.measurement import Measurement, Run
from frontload.measure.statistics import Interval

Figure = TypedDict("Figure", {
    "median": float, "min": int, "max": int,
    # Only of times; `outliers` are rounds.
    "mean": NotRequired[float], "low": NotRequired[float | None],
    "high": NotRequired[float | None], "outliers": NotRequired[list[int]]})
Estimate = TypedDict("Estimate", {  # a statistics.Interval
    "estimate": float, "low": float | None, "high": float | None})
Comparison = TypedDict("Comparison", {  # the ratio of a figure to that of the base
    "condition": str, "variant": str, "base": str, "figure": str,
    "estimate": float, "low": float | None, "high": float | None, "difference": Estimate})
Excess = TypedDict("Excess", {
    "base": str, "estimate": float, "low": float | None, "high": float | None})
Cost = TypedDict("Cost", {
    "condition": str, "variant": str, "figure": str,
    "estimate": float, "low": float | None, "high": float | None, "excess": Excess | None})
Stayed = TypedDict("Stayed", {
    "path": str,
    "pages": int,  # in the cache before a run, at most
    "of": int,
    "runs": int,  # that met any
    "why": NotRequired[str]})
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


def figures(runs: Sequence[Run]) -> dict[str, Figure]:
    """For every figure its median, least and most; for times mean, interval and outliers too.

    A figure that is unknown for one run is left out.
    """
    found: dict[str, Figure] = {}
    for name, figure in FIGURES.items():
        values = all_known([figure(run) for run in runs])
        if values is None:
            continue
        found[name] = {"median": float(median(values)), "min": min(values), "max": max(values)}
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


def _estimate(interval: Interval) -> Estimate:
    return cast(Estimate, asdict(interval))


def comparisons(measurement: Measurement) -> list[Comparison]:
    """The times of every variant against those of the first: their ratio, and their difference."""
    base, *others = (variant.name for variant in measurement.plan.variants)
    return [{"condition": condition, "variant": variant, "base": base, "figure": "wall_ns",
             **_estimate(time_ratio(measurement, condition, variant)),
             "difference": _estimate(measure_statistics.difference(
                 *(times(measurement, name, condition) for name in (variant, base))))}
            for condition in measurement.plan.conditions for variant in others]


def costs(measurement: Measurement) -> list[Cost]:
    """What being cold costs each variant, and how much more than it costs the first one."""
    plan = measurement.plan
    base = plan.variants[0].name
    found: list[Cost] = []
    for cold in plan.conditions:
        if cold == WARM or WARM not in plan.conditions:
            continue
        for variant in plan.variants:
            own = [times(measurement, variant.name, condition) for condition in (cold, WARM)]
            of_base = [times(measurement, base, condition) for condition in (cold, WARM)]
            found.append({
                "condition": cold, "variant": variant.name, "figure": "wall_ns",
                **_estimate(measure_statistics.interval(*own)),
                "excess": None if variant.name == base else {
                    "base": base, **_estimate(measure_statistics.excess(*own, *of_base))}})
    return found


def label(runs: Sequence[Run]) -> str:
    """The condition that all runs met, or the worst one of them."""
    return next((run.label for run in runs if run.label != run.condition), runs[0].condition)


def stayed(runs: Sequence[Run]) -> list[Stayed]:
    """The seen files that had pages in the cache before cold runs."""
    found: list[Stayed] = []
    for path, state in runs[0].files.items():
        before = [known for run in runs if not state.named and (known := run.files[path].before)]
        left = [residency.resident_pages for residency in before]
        if any(left) and runs[0].condition != WARM:
            found.append({"path": path, "pages": max(left), "of": before[0].pages.size,
                          "runs": sum(pages > 0 for pages in left)})
    return found


def time_unit(nanoseconds: float) -> str:
    return "s" if abs(nanoseconds) >= 1e9 else "ms"


def show_time(nanoseconds: float, unit: str) -> str:
    return f"{nanoseconds / 1e9:.3f}" if unit == "s" else f"{nanoseconds / 1e6:.2f}"
