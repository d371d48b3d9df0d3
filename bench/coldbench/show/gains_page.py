"""The page of bench/gains: medians and worst cases, and two rows for each program."""

import statistics
from collections.abc import Callable

from coldbench.show import columns
from coldbench.show.page import machine, table_row

DEVICES = "hdd", "ssd"
_HEAD = """\
# What a front gives Debian's programs

<!-- bench/gains wrote this page -->
`bench/gains` builds packages of Debian 12 by their own rules, and tries
[`frontload auto`](../auto.md) on a program of each. The *front*, the beginning of the file, then
holds what startup touches. It is trained with one command, and with all that the package's own test
suite starts of the program. Here are cold starts of that command (*trained*), and of another one
(*other*), by the program of GNU ld and by the one with a front. The program and the libraries of
its build are cold, all other files warm.
"""
_LEGEND = """\
* **suite**: runs of the program that its test suite gave.
* **faults, MB, peak MB**: major faults, bytes read, and peak memory, before → after: medians.
* **hdd, ssd**: time after / before on loop devices of that speed, the mean of ratios within rounds
  with a 95% interval. The kernel's throttle lets the first 0.1 s of requests through at once, which
  a real disk does not: for a hard disk, that is most of a small program's start.
* **reads**: so this is the time that a hard disk needs for the reads of the trained start, in ms,
  as [predicted](../predict.md).
"""
_FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "major_faults": ("faults", columns.count), "read_bytes": ("MB", columns.megabytes),
    "max_rss_bytes": ("peak MB", columns.megabytes)}


def ratios(rows: list[dict], trained: bool) -> dict[str, dict[str, float]]:
    """For each column, after / before of each program; 1 without a front."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        start = next((each for each in row["starts"] if each["trained"] is trained), None)
        for figure, (title, _) in _FIGURES.items():
            found.setdefault(title, {})[row["package"]] = (
                start["after"][figure] / start["before"][figure]
                if start and start["before"][figure] else 1.0)
        for device in DEVICES:
            found.setdefault(device, {})[row["package"]] = (
                start["devices"][device]["estimate"] if start else 1.0)
        before, after = _reads(row) or (1.0, 1.0)
        if trained:  # only this one is predicted
            found.setdefault("reads", {})[row["package"]] = after / before
    return found


def _reads(row: dict) -> tuple[float, float] | None:
    """What a hard disk needs for the reads of the trained start, in ms."""
    found = row.get("predicted")
    return found and tuple(found[name][DEVICES[0]] * 1000 for name in ("before", "after"))


def _summary(rows: list[dict]) -> list[str]:
    lines = []
    for name, trained in (("trained", True), ("other", False)):
        found = ratios(rows, trained)
        worst = {title: max(each, key=lambda package: each[package])
                 for title, each in found.items()}
        lines += [table_row([f"{name}, median", *(f"{statistics.median(each.values()):.2f}"
                                                  for each in found.values())]),
                  table_row([f"{name}, worst", *(f"{found[title][package]:.2f} ({package})"
                                                 for title, package in worst.items())])]
    titles = ["after / before", *ratios(rows, True)]
    return [table_row(titles), table_row(["---"] + ["---:"] * (len(titles) - 1)), *lines, ""]


def _rows(row: dict) -> list[str]:
    name = row["program"].rpartition("/")[2]
    cells = [f"{row['package']} {row['version']}"]
    if not row["starts"]:
        return [table_row([*cells, "", "no front", *["—"] * (len(_FIGURES) + len(DEVICES) + 1)])]
    found = []
    for start in row["starts"]:
        kind = "trained" if start["trained"] else "other"
        found.append(table_row([
            *cells, f"{row['trained_runs']:,}" if start["trained"] else "",
            f"{kind}: `{start['command'].replace('{}', name)}`",
            *(f"{show(start['before'][figure])} → {show(start['after'][figure])}"
              for figure, (_, show) in _FIGURES.items()),
            *(_interval(start["devices"][device]) for device in DEVICES),
            " → ".join(f"{each:.0f}" for each in _reads(row) or ()) if start["trained"] else ""]))
        cells = [""]
    return found


def _interval(ratio: dict) -> str:
    between = "" if ratio["low"] is None else f" ({ratio['low']:.2f} to {ratio['high']:.2f})"
    return f"{ratio['estimate']:.2f}{between}"


def render(document: dict, entries: dict[str, dict]) -> str:
    rows = document["rows"]
    titles = ["package", "suite", "start", *(title for title, _ in _FIGURES.values()),
              *DEVICES, "reads"]
    lines = [_HEAD, *_summary(rows), f"{len(rows)} programs, on {machine(document)}.", "", _LEGEND,
             table_row(titles), table_row(["---"] * 3 + ["---:"] * (len(titles) - 3)),
             *(line for row in rows for line in _rows(row)), ""]
    notes = [f"* **{row['package']}**: {said}" for row in rows for said in [
        f"{row.get('refused') or ''}{entries[row['package']].get('note', '')}"] if said]
    left_out = [f"* **{name}**: {entry['left_out']}" for name, entry in sorted(entries.items())
                if "left_out" in entry]
    for title, each in (("Explained", notes), ("Left out", left_out)):
        if each:
            lines += [f"## {title}", "", *each, ""]
    return "\n".join(lines)
