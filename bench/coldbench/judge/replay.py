"""Predictions beside the kernel's counts: is the model of a start right?

A workload's starts are recorded once, from its default program and with data (traces.data in its
folder). From this alone we predict the starts of its other layouts, and compare them with the
kernel's counts when they were measured. Layouts of basic blocks are predicted from a program with a
map of them, which may have its own recording.

A figure agrees if it is within 5% of the kernel's, or within one if that is more: there is no
twentieth of a fault. Only other layouts of the recorded program can be predicted: another
compilation has other code under the same names.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from frontload.measure import prediction
from frontload.profile import trace

from coldbench.measure import requests
from coldbench.variants.work_folder import WorkFolder
from coldbench.variants.workload import OPENED

WITHIN = 0.05
FIGURES = "major_faults", "read_bytes", "read_runs", "requests"  # that are compared
# At most this share of the touches may be unknown in another layout: that costs a fault or two. In
# another compilation several times as many are unknown.
_MAX_MISSING = 0.02


def replay(work: WorkFolder, variants: Sequence[dict], place: dict) -> dict[str, dict]:
    """The prediction of each variant, measured at a place as in figures.py:
    {figures..., "difference", "agrees", "why"}.

    figures     those above and `throttled_seconds`, of a throttled start, if they are predicted
    difference  predicted / measured - 1, by figure
    agrees      whether all figures do, without the requests of a prefetch; null if that cannot be
                judged, and then `why`
    """
    return {variant["name"]: _predict(work, variant, place) for variant in variants}


def _predict(work: WorkFolder, variant: dict, place: dict) -> dict:
    name = variant["name"]
    recording = work.workload.recording(name)
    folder = work.folder / recording.traces
    traces = trace.find(folder) if folder.is_dir() else []
    if obstacle := _obstacle(work, name, traces):
        return _not_made(obstacle)
    read_ahead = place["read_ahead_kib"]
    options = [f"--device={requests.SLOW}", f"--kernel={os.uname().release}",
               *([f"--read-ahead={read_ahead}"] if read_ahead else []),
               *([f"--prefetched={OPENED[name].asks_for}"] if name in OPENED else [])]
    answer = prediction.ask(work.binary(name), traces, work.binary(recording.program), options)
    touches, missing = (sum(each[key] for each in answer["predictions"])
                        for key in ("touches", "missing"))
    if missing > _MAX_MISSING * touches:
        return _not_made(f"another compilation: {100 * missing / touches:.0f}% of the touched "
                         "bytes are missing")
    figures = prediction.medians(answer["predictions"])[requests.SLOW]
    predicted = {figure: figures[figure] for figure in FIGURES}
    if name in OPENED:
        # If a program reads the file, the kernel alone does not decide the size of requests.
        del predicted["requests"]
    else:
        predicted["throttled_seconds"] = _throttled_seconds(variant, figures)
    counted = measured(variant)
    both = [figure for figure in predicted if figure in counted]
    why = None if place["own_device"] else "was not measured on a device of its own"
    # Requests of a prefetch depend on which pages of memory lie side by side.
    judged = [figure for figure in both if figure in FIGURES
              and not (figure == "requests" and answer["prefetch_bytes"])]
    return {**predicted,
            "difference": {figure: compare(predicted[figure], counted[figure]) for figure in both},
            "agrees": None if why else all(agrees(predicted[figure], counted[figure])
                                           for figure in judged),
            "why": why}


def _not_made(why: str) -> dict:
    return {"difference": {}, "agrees": None, "why": why}


def _obstacle(work: WorkFolder, variant: str, traces: Sequence[Path]) -> str | None:
    if not traces:
        recording = work.workload.recording(variant)
        return f"there is no {recording.traces} of {work.target(recording.program)}"
    if work.workload.ready:
        return "is a startup of several processes"
    if work.workload.program:
        return f"does not do the work that {work.workload.program} was recorded at"
    return None


def measured(variant: dict) -> dict[str, float]:
    """The measured values of the predicted figures of a variant."""
    found = {name: variant["cold"][name]["median"] for name in FIGURES if name in variant["cold"]}
    if variant["requests"]:
        found["requests"] = variant["requests"]["reads"]
    if variant["slow"]:
        found["throttled_seconds"] = variant["slow"]["wall_ns"]["median"] / 1e9
    return found


def _throttled_seconds(variant: dict, figures: dict) -> float:
    """The time of the slow device without the first slice, and the program's own time, which is
    that of a warm start."""
    waiting = requests.slow_seconds(figures["requests"], figures["read_bytes"])
    warm = variant["warm"]["wall_ns"]["median"] / 1e9
    return max(0.0, waiting - requests.FIRST_SLICE_SECONDS) + warm


def compare(predicted: float, measured: float) -> float | None:
    return predicted / measured - 1 if measured else None


def agrees(predicted: float, measured: float) -> bool:
    return abs(predicted - measured) <= max(1, WITHIN * measured)


def sentences(predictions: Mapping[str, dict]) -> list[str]:
    """How many of these predictions, by variant, agree, which do not, and why others were not made
    or judged."""
    judged = [name for name, each in predictions.items() if each["agrees"] is not None]
    wrong = [name for name in judged if not predictions[name]["agrees"]]
    reasons: dict[str, list[str]] = {}
    for name, each in predictions.items():
        if each["agrees"] is None:
            reasons.setdefault(each["why"].partition(":")[0], []).append(name)
    found = [f"not predicted: {', '.join(names)}: {why}"
             for why, names in reasons.items()]
    if judged:
        found.insert(0, f"predicted within {WITHIN:.0%}, or one: {len(judged) - len(wrong)} of "
                     f"{len(judged)} variants" + (f", not {', '.join(wrong)}" if wrong else ""))
    return found
