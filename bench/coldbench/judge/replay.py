"""Predictions beside the kernel's counts: is the model of a start right?

A workload's starts are recorded once, as the program is by default and with data (traces.data in
its folder). From that alone the starts of its other layouts are predicted, and compared with what
the kernel counted when they were measured.

A figure agrees if it is within 5% of the kernel's, or within one where that is less: a start of two
faults has no twentieth of one. What is no other layout of what was recorded cannot be predicted:
another compilation has other code under the same names.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from frontload.base import console
from frontload.device import kinds as devices
from frontload.measure import prediction
from frontload.measure import results as measure_report
from frontload.measure.rounds import SELECTIVELY_COLD as COLD
from frontload.measure.rounds import WARM
from frontload.profile import trace
from rich.table import Table

from coldbench.judge.verdicts import Verdict
from coldbench.measure.starts import SLOW, Starts
from coldbench.variants.workload import OPENED, WorkFolder

DATA_TRACES = "traces.data"
WITHIN = 0.05
# What is compared, with its heading and how many of it are one.
FIGURES = {"major_faults": ("major\nfaults", 1), "read_bytes": ("MB\nread", 1e6),
           "read_runs": ("runs\nread", 1), "requests": ("requests", 1)}
# So much of what was touched may be unknown in another layout, with no more than a fault or two to
# show for it; in another compilation it is several times as much.
_MOST_MISSING = 0.02
_MODELLED_LINUX = (6, 17)
# How much of a throttled start passes before the throttle does (frontload/device/throttle.py).
_FIRST_SLICE_SECONDS = 0.1


def replay(work: WorkFolder, variants: Sequence[str], starts: Starts) -> list[dict]:
    """A row for each measured variant: {"variant", "predicted", "measured", ...}.

    predicted   the figures, by figure, and `throttled_seconds`, of a throttled start; or null
    measured    the kernel's medians of the same, as far as there are any
    difference  predicted / measured - 1, by figure
    agrees      whether all figures do, but the requests of a prefetch; null if that is not to be
                judged, and then `why`
    """
    traces = _traces(work)
    return [_row(work, variant, starts, traces) for variant in variants]


def _traces(work: WorkFolder) -> list[Path]:
    folder = work.folder / DATA_TRACES
    return trace.find(folder) if folder.is_dir() else []


def _row(work: WorkFolder, variant: str, starts: Starts, traces: Sequence[Path]) -> dict:
    row = {"variant": variant, "predicted": None, "measured": _measured(starts, variant),
           "difference": {}, "agrees": None, "why": _obstacle(work, variant, traces)}
    if row["why"]:
        return row
    read_ahead = next(iter(starts.plain.places.values())).get("read_ahead_kib")
    options = [f"--device={SLOW}", *([f"--read-ahead={read_ahead}"] if read_ahead else []),
               *([f"--prefetch={OPENED[variant].asks_for}"] if variant in OPENED else [])]
    answer = prediction.ask(work.binary(variant), traces, work.binary("default"), options)
    touches, missing = (sum(each[key] for each in answer["predictions"])
                        for key in ("touches", "missing"))
    if missing > _MOST_MISSING * touches:
        row["why"] = (f"is another compilation: {100 * missing / touches:.0f}% of what was touched "
                      "is not found there")
        return row
    figures = prediction.medians(answer["predictions"])[SLOW]
    row["predicted"] = {name: figures[name] for name in FIGURES}
    if variant in OPENED:
        # How large the requests are of who reads the file is not the kernel's choice alone.
        del row["predicted"]["requests"]
    else:
        row["predicted"]["throttled_seconds"] = _throttled_seconds(starts, variant, figures)
    row["difference"] = {name: compare(value, row["measured"][name])
                         for name, value in row["predicted"].items()
                         if row["measured"].get(name) is not None}
    row["why"] = _why_not_judged(starts)
    if row["why"] is None:
        # Requests of what is asked for at once depend on which pages of memory lie side by side.
        row["agrees"] = all(agrees(row["predicted"][name], row["measured"][name])
                            for name in row["difference"] if name in FIGURES
                            and not (name == "requests" and answer["prefetch_bytes"]))
    return row


def _obstacle(work: WorkFolder, variant: str, traces: Sequence[Path]) -> str | None:
    if not traces:
        return f"there is no {DATA_TRACES} of {work.target('default')}"
    if variant in work.workload.openers:
        return "is a library: who opens it reads it, too"
    if work.workload.program:
        return f"does other work than what {work.workload.program} was recorded at"
    return None


def _why_not_judged(starts: Starts, release: str | None = None) -> str | None:
    release = release or os.uname().release
    if not starts.on_device:
        return "was not measured on a device of its own"
    if tuple(map(int, re.findall(r"\d+", release)[:2])) < _MODELLED_LINUX:
        return f"the model is of Linux {'.'.join(map(str, _MODELLED_LINUX))}, this is {release}"
    return None


def _measured(starts: Starts, variant: str) -> dict:
    seen = measure_report.figures(starts.plain.of(variant, COLD))
    found = {name: seen[name]["median"] for name in FIGURES if seen.get(name)}
    if starts.requests.get(variant):
        found["requests"] = float(np.median([each.reads for each in starts.requests[variant]]))
    if starts.throttled:
        slow = measure_report.figures(starts.throttled.of(variant, COLD))
        found["throttled_seconds"] = slow["wall_ns"]["median"] / 1e9
    return found


def _throttled_seconds(starts: Starts, variant: str, figures: dict) -> float:
    """Requests and bytes are handed out side by side, but for the first slice; and the program's
    own time, that of a warm start, is added."""
    device = devices.find(SLOW)
    waiting = max(figures["requests"] / device.iops,
                  figures["read_bytes"] / device.bytes_per_second)
    warm = measure_report.figures(starts.plain.of(variant, WARM))["wall_ns"]["median"] / 1e9
    return max(0.0, waiting - _FIRST_SLICE_SECONDS) + warm


def compare(predicted: float, measured: float) -> float | None:
    return predicted / measured - 1 if measured else None


def agrees(predicted: float, measured: float) -> bool:
    return abs(predicted - measured) <= max(1, WITHIN * measured)


def verdicts(rows: Sequence[dict]) -> list[Verdict]:
    found = []
    for row in rows:
        text = f"{row['variant']}: prediction within {WITHIN:.0%}, or one, of the kernel's counts"
        if row["predicted"] is None:
            continue
        differences = {name: row["difference"][name] for name in FIGURES
                       if row["difference"].get(name) is not None}
        if differences:
            worst = max(differences, key=lambda name: abs(differences[name]))
            text += f": at most {differences[worst]:+.1%} ({worst.replace('_', ' ')})"
        if row["why"]:
            text += f": {row['why']}"
        found.append(Verdict(text, row["agrees"]))
    return found


def by_variant(rows: Sequence[dict]) -> dict[str, dict]:
    """The rows by their variants, with what was predicted as figures of their own."""
    return {row["variant"]: {**(row["predicted"] or {}), "difference": row["difference"],
                             "agrees": row["agrees"], "why": row["why"]} for row in rows}


def sentences(predictions: Mapping[str, dict]) -> list[str]:
    """How many of these predictions, by variant, agree, which do not, and why others were not made
    or judged."""
    judged = [name for name, each in predictions.items() if each["agrees"] is not None]
    wrong = [name for name in judged if not predictions[name]["agrees"]]
    found = [f"not judged: the prediction of {name}: {each['why']}"
             for name, each in predictions.items() if each["agrees"] is None]
    if judged:
        found.insert(0, f"Predictions are within {WITHIN:.0%}, or one, of the kernel's counts for "
                     f"{len(judged) - len(wrong)} of {len(judged)} variants"
                     + (f", but not for {', '.join(wrong)}" if wrong else ""))
    return found


def table(rows: Sequence[dict]) -> Table:
    """One line for each variant that could be predicted: predicted / the kernel's."""
    headings = [heading for heading, _ in FIGURES.values()]
    found = console.table("predicted /\nthe kernel's", *headings, "seconds\ncold, throttled",
                          numbers=range(1, len(headings) + 2))
    for row in rows:
        if row["predicted"]:
            console.add_row(found, row["variant"],
                            *(_cell(row, name, f"{{:.{1 if unit > 1 else 0}f}}", unit)
                              for name, (_, unit) in FIGURES.items()),
                            _cell(row, "throttled_seconds", "{:.2f}"))
    return found


def _cell(row: dict, name: str, form: str, unit: float = 1) -> str:
    values = [row[kind].get(name) for kind in ("predicted", "measured")]
    return " / ".join("-" if value is None else form.format(value / unit) for value in values)
