"""What the page shows of time: the phases of the recorded starts, measured times, predicted ones.

The recorded starts were slowed down by their recorder, and each was one run. Times to rely on come
from `frontload measure`, with their intervals; those on other devices from `frontload predict`.
"""

from frontload.report import page_text as text
from frontload.report.advice_waiting import DISK


def phases(variants: list[dict]) -> list[dict]:
    """For each variant the processes with their phases, on one scale of time."""
    end = max((phase["end_ns"] or phase["start_ns"] for variant in variants
               for phase in variant["phases"]), default=0)
    found = []
    for variant in variants:
        processes: dict[int, list[dict]] = {}
        for phase in variant["phases"]:
            last = phase["end_ns"] if phase["end_ns"] is not None else end
            processes.setdefault(phase["process"], []).append({
                **phase, **_waited(phase.get("waits_ns")), "duration": last - phase["start_ns"],
                "left": round(100 * phase["start_ns"] / end, 3) if end else 0,
                "width": round(100 * (last - phase["start_ns"]) / end, 3) if end else 0})
        known = variant.get("processes") or []
        found.append({"variant": variant["name"], "processes": [
            {"name": known[number]["command"] if number < len(known) else f"process {number}",
             "phases": entries} for number, entries in sorted(processes.items())]})
    return found


def _waited(waits: dict[str, int] | None) -> dict[str, int | None]:
    """For how long nothing ran: for a disk, and for something else."""
    if waits is None:
        return {"disk_wait": None, "other_wait": None}
    disk = waits.get(DISK, 0)
    return {"disk_wait": disk, "other_wait": sum(waits.values()) - disk}


def measured(document: dict) -> list[dict]:
    """One row for each variant and condition that was measured."""
    measurement = document["measurement"] or {"results": []}
    return [{"variant": result["variant"], "condition": result["label"],
             "time": _interval(result["figures"].get("wall_ns", {}), text.duration),
             "major": text.number(_median(result, "major_faults")),
             "minor": text.number(_median(result, "minor_faults")),
             "read": text.byte_count(_median(result, "read_bytes")),
             "memory": text.byte_count(_median(result, "max_rss_bytes"))}
            for result in measurement["results"]]


def _median(result: dict, figure: str) -> float | None:
    return result["figures"].get(figure, {}).get("median")


def _interval(figure: dict, show) -> str:
    best = next((figure[key] for key in ("mean", "estimate", "median")
                 if figure.get(key) is not None), None)
    low, high = figure.get("low"), figure.get("high")
    if best is None or low is None or high is None:
        return show(best)
    return f"{show(best)} ({show(low)} to {show(high)})"


def comparisons(document: dict) -> list[dict]:
    """What the measurement says of pairs of variants: the ratio of their times."""
    measurement = document["measurement"] or {"comparisons": []}
    return [{"variant": each["variant"], "base": each["base"], "condition": each["condition"],
             "ratio": _interval(each, lambda value: f"{value:.2f}")}
            for each in measurement["comparisons"]
            if each["figure"] == "wall_ns" and each["estimate"] is not None]


def costs(document: dict) -> list[dict]:
    """What being cold costs each variant, cold less warm, and how much more it is than the base's:
    the figure that tells what a layout changes, whatever else the program does."""
    measurement = document["measurement"] or {"costs": []}
    return [{"variant": each["variant"], "condition": each["condition"],
             "cost": _interval(each, text.duration),
             "more": each["excess"] and _interval(each["excess"], text.duration),
             "base": each["excess"] and each["excess"]["base"]}
            for each in measurement["costs"]
            if each["figure"] == "wall_ns" and each["estimate"] is not None]


def predicted(document: dict) -> tuple[list[str], list[dict]]:
    """The devices, and for each variant and trace what a cold start costs on them."""
    predictions = document["predictions"] or []
    devices = list(dict.fromkeys(device for each in predictions for device in each["devices"]))
    several = len({each["trace"] for each in predictions}) > 1
    rows = []
    for each in predictions:
        cells = []
        for device in devices:
            figures = each["devices"].get(device, {})
            seconds = figures.get("seconds")
            cells.append({"seconds": seconds,
                          "time": text.duration(None if seconds is None else seconds * 1e9),
                          "requests": text.number(figures.get("requests"))})
        rows.append({"variant": each["variant"], "trace": each["trace"] if several else "",
                     "cells": cells})
    return devices, rows
