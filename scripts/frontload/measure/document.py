"""A measurement as JSON, "frontload-measure/2": described in docs/reference/json.md."""

from dataclasses import asdict
from typing import TypedDict

from frontload import __version__
from frontload.machine.host import Host
from frontload.measure import doubts, statistics
from frontload.measure.measurement import Measurement, Run
from frontload.measure.results import (
    Comparison,
    Cost,
    Figure,
    Stayed,
    comparisons,
    costs,
    figures,
    label,
    stayed,
)
from frontload.pagecache import mounts

SCHEMA = "frontload-measure/2"
METHOD = {
    "wall_ns": "CLOCK_MONOTONIC from just before exec until the process was reaped, or was "
               "ready",
    "interval": "mean and 95% confidence interval by the bootstrap: BCa, "
                f"{statistics.RESAMPLES} resamples from a fixed seed, scipy, expanded for "
                f"the number of runs; of fewer than {statistics.MIN_VALUES} by Student's t, "
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


Result = TypedDict("Result", {  # all runs of a variant from a condition
    "variant": str, "condition": str,
    "label": str,  # the condition that was really met
    "figures": dict[str, Figure], "stayed": list[Stayed],
    "runs": list[dict[str, object]]})  # see _run_to_json
Document = TypedDict("Document", {
    "schema": str, "frontload": str, "host": Host,
    "device": dict[str, object] | None,  # on_device.OwnDevice
    "plan": dict[str, object],  # plan.Plan
    "files": list[dict[str, object]],  # host.Place, whether it was `named`
    "method": dict[str, str], "results": list[Result],
    "comparisons": list[Comparison], "costs": list[Cost],
    "warnings": list[str], "missing": list[dict[str, str]]})


def to_json(measurement: Measurement) -> Document:
    """All results, every single run included."""
    plan = measurement.plan
    results: list[Result] = []
    for condition in plan.conditions:
        for variant in plan.variants:
            runs = measurement.of(variant.name, condition)
            results.append({
                "variant": variant.name, "condition": condition, "label": label(runs),
                "figures": figures(runs),
                "stayed": [{**file, "why": mounts.why_resident(file["path"])}
                           for file in stayed(runs)],
                "runs": [_run_to_json(run) for run in runs]})
    named = {file for variant in plan.variants for file in variant.files}
    return {
        "schema": SCHEMA,
        "frontload": __version__,
        "host": measurement.host,
        "device": asdict(measurement.device) if measurement.device else None,
        "plan": asdict(plan),
        "files": [{**place, "named": file in named}
                  for file, place in measurement.places.items()],
        "method": METHOD,
        "results": results,
        "comparisons": comparisons(measurement),
        "costs": costs(measurement),
        "warnings": doubts.warnings(measurement),
        "missing": [asdict(missing) for missing in measurement.missing],
    }


def _run_to_json(run: Run) -> dict[str, object]:
    files: dict[str, dict[str, int | str] | None] = {}
    for path, state in run.files.items():
        before, after, read = state.before, state.after, state.read
        if before is None or after is None or read is None:
            files[path] = None
            continue
        files[path] = {
            "resident_pages_before": before.resident_pages,
            "resident_pages": after.resident_pages,
            "resident_bytes": after.resident_bytes,
            "read_bytes": read.resident_bytes,
            "read_runs": len(read.runs()),
            "read_pages": read.to_text(),  # first+pages of each run
        }
    return {"round": run.round, "position": run.position, "label": run.label,
            **asdict(run.sample), "files": files, "outputs": run.outputs}
