"""The figures of a workload's variants: those in the document, and those that can be judged.

A figure is the median over the cold runs on the plain device. Times are kept by round, because they
are compared as ratios within rounds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from frontload.measure import results
from frontload.measure.measurement import Run
from frontload.pagecache.kernel import PAGE_SIZE

from coldbench.measure.requests import slow_device, slow_seconds
from coldbench.measure.starts import Starts
from coldbench.variants.work_folder import WorkFolder

PLAIN, THROTTLED = "cold", "cold, throttled"
# Their names in JSON.
CONDITIONS = {"cold": PLAIN, "slow": THROTTLED}


@dataclass(frozen=True)
class Figures:
    """Measured figures that can be judged."""

    medians: Mapping[str, Mapping[str, float]]  # variant -> figure -> median
    # By variant and condition: the times by round.
    times: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)


def of_variant(work: WorkFolder, starts: Starts, name: str) -> dict:
    """A variant in the document: its file, its figures in each condition, and the reads of one of
    its cold starts, for the picture."""
    runs = starts.by_condition(name)
    (state,) = runs["cold"][0].files.values()
    found = {
        "name": name,
        "size": work.binary(name).stat().st_size,
        "page_size": PAGE_SIZE,
        "read_pages": state.read.to_text() if state.read else None,
        "slow": None,
        **{condition: results.figures(these) for condition, these in runs.items()},
        "requests": _requests(starts, name),
    }
    return found | {"slow_by_requests_ns": _slow_by_requests(found)}


def of_run(run: Run) -> dict[str, int | None]:
    return {name: figure(run) for name, figure in results.FIGURES.items()}


def place(starts: Starts) -> dict:
    """The file system and the kind of device of the starts."""
    found, slow = next(iter(starts.plain.places.values())), slow_device()
    return {"file_system": found.get("file_system"), "read_ahead_kib": found.get("read_ahead_kib"),
            "own_device": starts.on_device,
            "throttle": {"device": slow.name, "iops": slow.iops,
                         "bytes_per_second": slow.bytes_per_second} if starts.throttled else None}


def to_judge(starts: Starts, variants: Sequence[dict]) -> Figures:
    """The figures of these variants of the document that can be judged. On another file system than
    the device's, readahead and layout are not as required: none is left."""
    medians: dict[str, dict[str, float]] = {variant["name"]: {} for variant in variants}
    if not starts.on_device:
        return Figures(medians)
    for variant in variants:
        found = {name: figure["median"] for name, figure in variant["cold"].items()}
        found["all_faults"] = found["major_faults"] + found["minor_faults"]
        found["slow_by_requests_ns"] = variant["slow_by_requests_ns"]
        medians[variant["name"]] |= found
    times = {(variant["name"], CONDITIONS[condition]): [run.sample.wall_ns for run in runs]
             for variant in variants
             for condition, runs in starts.by_condition(variant["name"]).items()
             if condition in CONDITIONS}
    return Figures(medians, times)


def _requests(starts: Starts, name: str) -> dict | None:
    made = starts.requests.get(name)
    if not made:
        return None
    return {"reads": float(np.median([each.reads for each in made])),
            "bytes": float(np.median([each.bytes for each in made])),
            "by_round": [asdict(each) for each in made]}


def _slow_by_requests(variant: dict) -> float | None:
    """The time of a start on the slow device by its requests, with the time of a warm start."""
    made = variant["requests"]
    if made is None:
        return None
    waited = slow_seconds(made["reads"], made["bytes"])
    return waited * 1e9 + variant["warm"]["wall_ns"]["median"]
