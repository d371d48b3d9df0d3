"""The output of frontload measure: a table for each condition, and what being cold costs."""

import math
from statistics import median
from typing import TYPE_CHECKING

from frontload.base import console
from frontload.base.console import say
from frontload.base.errors import count, printable
from frontload.machine.host import Host
from frontload.measure.conditions import COLD, SELECTIVELY_COLD
from frontload.measure.measurement import Measurement
from frontload.measure.on_device import OwnDevice
from frontload.measure.results import (
    Estimate,
    Figure,
    Stayed,
    costs,
    figures,
    label,
    show_time,
    stayed,
    time_ratio,
    time_unit,
)
from frontload.measure.statistics import Interval

if TYPE_CHECKING:
    from rich.table import Table

_MAX_SHOWN = 4  # files that stayed in the cache
_FROM = {
    COLD: "Cold: everything that the kernel lets go was dropped from the page cache.",
    SELECTIVELY_COLD: "Selectively cold: only the named files were evicted.",
}


def print_report(measurement: Measurement) -> None:
    """One table for each condition, and what being cold costs."""
    plan = measurement.plan
    for condition in plan.conditions:
        print(f"{condition}, {count(plan.runs, 'run')} of each:")
        console.show(_table(measurement, condition))
        print()
    _print_costs(measurement)
    for line in (f"{machine(measurement)}.", "Counts are medians, MB are 10^6 bytes, times are "
                 "means with their 95% confidence interval. Ratios and differences are paired by "
                 "round."):
        say(line)
    if plan.ready and plan.ready.can_be_seen:
        watching = median(run.sample.watching_us for run in measurement.runs)
        say(f"A start is over when the program {plan.ready}; to see that cost "
            f"{watching / 1e3:.1f} ms of processor time beside it.")
    if measurement.device:
        _print_device(measurement.device)
    for condition in plan.conditions:
        if condition == SELECTIVELY_COLD and plan.evict_seen:
            say("Selectively cold: the named files, and those that the runs were seen to read, "
                "were evicted.")
        elif condition in _FROM:
            say(_FROM[condition])
        _print_stayed(measurement, condition)
    for missing in measurement.missing:
        say(f"missing: {missing.what}: {missing.why}; {missing.remedy}")


def machine(measurement: Measurement) -> str:
    """The machine of the measurement, in one line."""
    host = measurement.host
    lines = [f"{host['kernel']}, {host['processor']} ({_processors(host)})"]
    for place in measurement.places.values():
        ahead, device = place["read_ahead_kib"], place["device"]
        name = device["name"] if device else None  # none: no /sys
        lines.append(place["file_system"] + (f" on {name}" if name else "")
                     + (f", readahead {ahead} KiB" if ahead is not None else ""))
    return printable("; ".join(dict.fromkeys(lines)))


def _print_device(device: OwnDevice) -> None:
    if device.latency_ms:
        say(f"On a file system of its own: {device.description}.")
        return
    limits = []
    if device.iops is not None:
        limits.append(f"{device.iops:g} requests")
    if device.bytes_per_second is not None:
        limits.append(f"{device.bytes_per_second / 1e6:g} MB")
    if not limits:
        say("On a loop device of its own, as fast as memory.")
        return
    say(f"On a loop device that the kernel ({device.throttle}) slows down to kind "
        f"{device.name}: {' and '.join(limits)} per second.")
    say("The kernel lets the first tenth of a second through at once: a real device takes up to "
        "that much longer.")


def _processors(host: Host) -> str:
    text = count(host["processors"], "processor")
    if frequency := host["frequency"]:
        if frequency["mhz"]:
            least, most = (f"{mhz:.0f}" for mhz in frequency["mhz"])
            text += f", {least} MHz" if least == most else f", {least} to {most} MHz"
        if frequency["governors"]:
            text += f", governor {' and '.join(frequency['governors'])}"
    return text


def _table(measurement: Measurement, condition: str) -> "Table":
    variants = measurement.plan.variants
    seen = [figures(measurement.of(variant.name, condition)) for variant in variants]
    unit = time_unit(min(figure["wall_ns"]["mean"] for figure in seen))
    headings = ["variant", "major\nfaults", "minor\nfaults", "MB\nread", "ex-\ntents",
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
            _megabytes(counts, "max_rss_bytes"), show_time(time["mean"], unit),
            _range(time, unit, least=0),
            *([_ratio(time_ratio(measurement, condition, variant.name))] if number else []))
    return table


def _print_costs(measurement: Measurement) -> None:
    found = costs(measurement)
    base = measurement.plan.variants[0].name
    for condition in dict.fromkeys(cost["condition"] for cost in found):
        here = [cost for cost in found if cost["condition"] == condition]
        unit = time_unit(max(cost["estimate"] for cost in here))
        print(f"what being cold costs, {condition} less warm, {unit}:")
        more = [f"more than\n{printable(base)}", "95%\ninterval"] if len(here) > 1 else []
        headings = ["variant", "cold -\nwarm", "95%\ninterval", *more]
        table = console.table(*headings, numbers=range(1, len(headings)))
        for cost in here:
            excess = cost["excess"]
            console.add_row(table, cost["variant"], show_time(cost["estimate"], unit),
                            _range(cost, unit),
                            *([show_time(excess["estimate"], unit), _range(excess, unit)]
                              if excess else []))
        console.show(table)
        print()


def _print_stayed(measurement: Measurement, condition: str) -> None:
    files: dict[str, Stayed] = {}
    for variant in measurement.plan.variants:
        for file in stayed(measurement.of(variant.name, condition)):
            known = files.setdefault(file["path"], file)
            if file["pages"] > known["pages"]:
                files[file["path"]] = file
    if files:
        largest = sorted(files.values(), key=lambda file: -file["pages"])
        text = ", ".join(f"{file['path']} ({file['pages']} of {file['of']} pages)"
                         for file in largest[:_MAX_SHOWN])
        if len(files) > _MAX_SHOWN:
            text += f" and {count(len(files) - _MAX_SHOWN, 'other file')}"
        say(f"Stayed in the page cache, because other processes use it: {text}.")


def _count(seen: dict[str, Figure], name: str) -> str:
    return f"{seen[name]['median']:.0f}" if name in seen else "?"


def _megabytes(seen: dict[str, Figure], name: str) -> str:
    if name not in seen:
        return "?"
    megabytes = seen[name]["median"] / 1e6
    return f"{megabytes:.1f}" if megabytes >= 10 else f"{megabytes:.3f}"


def _range(interval: Figure | Estimate, unit: str, least: float = -math.inf) -> str:
    if interval["low"] is None or interval["high"] is None:
        return ""
    return f"{show_time(max(interval['low'], least), unit)} to {show_time(interval['high'], unit)}"


def _ratio(comparison: Interval) -> str:
    if comparison.low is None:
        return f"{comparison.estimate:.3f}"
    return f"{comparison.estimate:.3f} ({comparison.low:.3f} to {comparison.high:.3f})"
