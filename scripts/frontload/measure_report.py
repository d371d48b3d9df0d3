"""What frontload measure says about its runs: figures, warnings, JSON and the table."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np
from rich.table import Table

from frontload import __version__, console, measure_host, measure_statistics
from frontload.errors import printable
from frontload.measure import COLD, Measurement, Run
from frontload.measure_statistics import Interval

SCHEMA = "frontload-measure/1"
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
    "interval": "mean and 95% confidence interval, Student's t",
    "ratio": "geometric mean of the ratios within each round, 95% confidence interval by Student's "
             "t on their logarithms",
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


def time_ratio(measurement: Measurement, condition: str, variant: str) -> Interval:
    """How the times of a variant compare with those of the first variant."""
    base = measurement.plan.variants[0].name
    times = [[run.sample.wall_ns for run in measurement.of(name, condition)]
             for name in (variant, base)]
    return measure_statistics.ratio(*times)


def label(runs: Sequence[Run]) -> str:
    """The condition all runs met, or the worst that one of them met."""
    return next((run.label for run in runs if run.label != run.condition), runs[0].condition)


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
        most = max(sum(state.before.resident_pages for state in run.files.values()) for run in runs)
        found.append(f"is not cold: up to {most} pages stayed in the page cache before a run")
    failed = [run for run in runs if run.sample.failed]
    if failed:
        found.append(f"{len(failed)} of {len(runs)} runs failed: {failed[0].variant} "
                     f"{failed[0].sample.how_it_ended()}")
    for name, text in REPEATING.items():
        values = [FIGURES[name](run) for run in runs]
        if runs[0].condition != COLD or None in values or np.ptp(values) <= VARIES_BY:
            continue
        spread = measure_statistics.spread(values)
        if spread > VARIES:
            found.append(f"{text} vary by {spread:.1%} ({min(values)} to {max(values)}); does the "
                         "program do the same each time?")
    times = [run.sample.wall_ns for run in runs]
    for index in measure_statistics.outliers(times):
        middle = float(np.median(times))
        unit = _unit(middle)
        found.append(f"run {runs[index].round + 1} took {_time(times[index], unit)} {unit}, far "
                     f"from the median of {_time(middle, unit)} {unit}; it is kept. A quieter "
                     "machine or more --runs would help")
    if len(runs) < 2:
        found.append("a single run has no confidence interval; use --runs")
    return found


def to_json(measurement: Measurement) -> dict:
    """Everything that was seen, every single run included."""
    plan = measurement.plan
    results, comparisons = [], []
    for condition in plan.conditions:
        for variant in plan.variants:
            runs = measurement.of(variant.name, condition)
            results.append({
                "variant": variant.name, "condition": condition, "label": label(runs),
                "figures": figures(runs),
                "sections_read": measurement.sections_read(variant.name, condition),
                "runs": [_run_to_json(run) for run in runs]})
        for variant in plan.variants[1:]:
            comparisons.append({
                "condition": condition, "variant": variant.name, "base": plan.variants[0].name,
                "figure": "wall_ns", **asdict(time_ratio(measurement, condition, variant.name))})
    return {
        "schema": SCHEMA,
        "frontload": __version__,
        "host": measure_host.describe_host(),
        "plan": asdict(plan),
        "files": [place | {"sections": [asdict(section) for section in measurement.sections[file]]}
                  for file, place in measurement.places.items()],
        "method": METHOD,
        "results": results,
        "comparisons": comparisons,
        "warnings": warnings(measurement),
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


def print_report(measurement: Measurement, *, sections: bool = False) -> None:
    """One table for each condition; with `sections` also what was read from each section."""
    runs = measurement.plan.runs
    for condition in measurement.plan.conditions:
        print(f"{condition}, {runs} run{'s' if runs > 1 else ''} of each:")
        console.show(_table(measurement, condition))
        print()
    if sections and COLD in measurement.plan.conditions:
        _print_sections(measurement)
    print(f"{machine(measurement)}.\nCounts are medians, MB are 10^6 bytes, times are means with "
          "their 95% confidence interval,\nratios are paired by round. Only the named files are "
          "evicted.")


def machine(measurement: Measurement) -> str:
    """Where it was measured, in one line."""
    host = measure_host.describe_host()
    lines = [f"{host['kernel']}, {host['processor']} ({host['processors']} processors)"]
    for place in measurement.places.values():
        ahead = place["read_ahead_kib"]
        lines.append(place["file_system"]
                     + (f", readahead {ahead} KiB" if ahead is not None else ""))
    return "; ".join(dict.fromkeys(lines))


def _table(measurement: Measurement, condition: str) -> Table:
    variants = measurement.plan.variants
    seen = [figures(measurement.of(variant.name, condition)) for variant in variants]
    unit = _unit(min(figure["wall_ns"]["mean"] for figure in seen))
    headings = ["variant", "major\nfaults", "minor\nfaults", "MB\nread", "runs\nread",
                "peak\nRSS MB", unit, "95%\ninterval"]
    if len(variants) > 1:
        headings.append(f"time /\n{printable(variants[0].name)}")
    table = console.table(*headings, numbers=range(1, len(headings)))
    for number, variant in enumerate(variants):
        runs = measurement.of(variant.name, condition)
        counts, time = seen[number], seen[number]["wall_ns"]
        console.add_row(
            table,
            variant.name if label(runs) == condition else f"{variant.name} ({label(runs)})",
            _count(counts, "major_faults"), _count(counts, "minor_faults"),
            _megabytes(counts, "read_bytes"), _count(counts, "read_runs"),
            _megabytes(counts, "max_rss_bytes"), _time(time["mean"], unit),
            "" if time["low"] is None else
            f"{_time(max(time['low'], 0), unit)} to {_time(time['high'], unit)}",
            *([_ratio(time_ratio(measurement, condition, variant.name))] if number else []))
    return table


def _unit(nanoseconds: float) -> str:
    return "s" if nanoseconds >= 1e9 else "ms"


def _time(nanoseconds: float, unit: str) -> str:
    return f"{nanoseconds / 1e9:.3f}" if unit == "s" else f"{nanoseconds / 1e6:.2f}"


def _count(seen: dict, name: str) -> str:
    return f"{seen[name]['median']:.0f}" if name in seen else "?"


def _megabytes(seen: dict, name: str) -> str:
    if name not in seen:
        return "?"
    megabytes = seen[name]["median"] / 1e6
    return f"{megabytes:.1f}" if megabytes >= 10 else f"{megabytes:.3f}"


def _ratio(comparison: Interval) -> str:
    if comparison.low is None:
        return f"{comparison.estimate:.3f}"
    return f"{comparison.estimate:.3f} ({comparison.low:.3f} to {comparison.high:.3f})"


def _print_sections(measurement: Measurement) -> None:
    for variant in measurement.plan.variants:
        for path, read in measurement.sections_read(variant.name, COLD).items():
            sizes: dict[str, int] = {}
            for section in measurement.sections[path]:
                sizes[section.name] = sizes.get(section.name, 0) + section.size
            print(printable(f"{variant.name}, cold: read from {path}:"))
            table = console.table("section", "bytes read", "of", numbers=(1, 2))
            for name, count in read.items():
                if count:
                    console.add_row(table, name, f"{count:,.0f}",
                                    f"{sizes[name]:,}" if name in sizes else "")
            console.show(table)
            print()
