"""The page of bench/gains: medians and worst cases, and two rows for each program."""

import statistics
from collections.abc import Callable

from coldbench.show import columns
from coldbench.show.page import machine, table_row

DEVICES = "hdd", "ssd"
_LARGEST = 20
_DISK_IOPS, _DISK_BYTES = 150, 80e6  # of the device hdd, each second
_HEAD = """\
# What a front gives Debian's programs

<!-- bench/gains wrote this page -->
`bench/gains` builds packages of Debian 12 by their own rules, with `-ffunction-sections` and
`-fdata-sections`, and tries [`frontload auto`](../auto.md) on a program of each. The *front*, the
beginning of the file, then holds what startup touches. It is trained with one command, and with all
that the package's own test suite starts of the program. Here are cold starts of that command
(*trained*), and of another one (*other*), by the program of GNU ld and by the one with a front. The
program and the libraries of its build are cold, all other files warm. No start has a
[prefetch](../prefetch.md).
"""
_LEGEND = """\
* **the 20 largest** of these programs, by the MB that the trained start reads without a front, are
  the first rows.
* **suite**: runs of the program that its test suite gave.
* **faults, MB, peak MB**: major faults, bytes read, and peak memory, before → after: medians.
* **requests**: the reads that a device with 128 KiB readahead served in one start.
* **hdd, ssd**: time after / before on loop devices of that speed, the mean of ratios within rounds
  with a 95% interval. The kernel's throttle lets the first 0.1 s of requests through at once, which
  a real disk does not. So *hdd* shows too little where both starts fit into that, and too much
  where only the one with a front does.
* **reads**: the time in ms that a hard disk of 150 requests and 80 MB a second needs for them.
  Where requests are not counted, it is [predicted](../predict.md), for the trained start.
"""
_LEFT_OUT = """\
Of 133 packaged programs, we measured what a cold start reads of the program and of the libraries of
its source package, with 128 KiB readahead. Those that read 1 MB or more and have no row, and others
of the list that have none:
"""
_FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "major_faults": ("faults", columns.count), "requests": ("requests", columns.count),
    "read_bytes": ("MB", columns.megabytes), "max_rss_bytes": ("peak MB", columns.megabytes)}
_TITLES = [*(title for title, _ in _FIGURES.values()), *DEVICES, "reads"]


def _start(row: dict, trained: bool) -> dict | None:
    return next((each for each in row["starts"] if each["trained"] is trained), None)


def _ratios(row: dict, trained: bool) -> dict[str, float]:
    """For each column, after / before; 1 without a front, which leaves the program as it is."""
    start = _start(row, trained)
    if start is None:
        return dict.fromkeys(_TITLES, 1.0)
    found = {title: start["after"][figure] / start["before"][figure] if start["before"][figure]
             else 1.0 for figure, (title, _) in _FIGURES.items() if figure in start["before"]}
    found |= {device: start["devices"][device]["estimate"] for device in DEVICES}
    if reads := _reads(row, start):
        found["reads"] = reads[1] / reads[0]
    return found


def _reads(row: dict, start: dict) -> tuple[float, float] | None:
    """What a hard disk takes for the reads of both, in ms; None if that is not known."""
    if "requests" in start["before"]:
        before, after = (1000 * (each["requests"] / _DISK_IOPS + each["read_bytes"] / _DISK_BYTES)
                         for each in (start["before"], start["after"]))
        return before, after
    if start["trained"] and row["predicted"]:  # only this one is predicted
        return row["predicted"]["before"], row["predicted"]["after"]
    return None


def _summary(rows: list[dict]) -> list[str]:
    lines = [table_row(["after / before", *_TITLES]),
             table_row(["---"] + ["---:"] * len(_TITLES))]
    for name, trained in (("trained", True), ("other", False)):
        for of_them, chosen in (("", rows), (f", the {_LARGEST} largest", rows[:_LARGEST]),
                                (", worth it", list(filter(_is_worth_it, rows)))):
            found = [(_ratios(row, trained), row["package"]) for row in chosen]
            columns_of = [[(ratios[title], package) for ratios, package in found
                           if title in ratios] for title in _TITLES]
            lines += [
                table_row([f"{name}{of_them}: median", *(
                    f"{statistics.median(ratio for ratio, _ in each):.2f}" if each else ""
                    for each in columns_of)]),
                table_row([f"{name}{of_them}: worst", *(
                    "{:.2f} ({})".format(*max(each)) if each else "" for each in columns_of)])]
    return [*lines, ""]


def _is_worth_it(row: dict) -> bool:
    return row.get("verdict", "").startswith("worth it")


def _rows(row: dict) -> list[str]:
    name = row["program"].rpartition("/")[2]
    cells = [f"{row['package']} {row['version']}"]
    if not row["starts"]:
        return [table_row([*cells, "", "no front", *[columns.ABSENT] * len(_TITLES)])]
    found = []
    for start in row["starts"]:
        trained = start["trained"]
        found.append(table_row([
            *cells, f"{row['trained_runs']:,}" if trained else "",
            f"{'trained' if trained else 'other'}: `{start['command'].replace('{}', name)}`",
            *(f"{show(start['before'][figure])} → {show(start['after'][figure])}"
              if figure in start["before"] else "" for figure, (_, show) in _FIGURES.items()),
            *("{estimate:.2f} ({low:.2f} to {high:.2f})".format(**start["devices"][device])
              for device in DEVICES),
            "{:.0f} → {:.0f}".format(*reads) if (reads := _reads(row, start)) else ""]))
        cells = [""]
    return found


def _read_before(row: dict) -> float:
    """What the trained start reads of the program of GNU ld, in bytes; 0 if not measured."""
    start = _start(row, trained=True)
    return start["before"]["read_bytes"] if start else 0


def _unworthy(row: dict) -> str:
    """What auto said where it made no front, or where it advised against the front, which is
    measured all the same."""
    return "" if _is_worth_it(row) else f"auto: {row.get('refused') or row['verdict']}."


def render(document: dict, entries: dict[str, dict]) -> str:
    rows = sorted(document["rows"], key=_read_before, reverse=True)
    notes = [f"* **{row['package']}**: " + " ".join(said) for row in rows if (said := list(filter(
        None, (_unworthy(row), entries[row["package"]].get("note"),
               "host" in row and f"Measured before, on {machine(row)}."))))]
    left_out = [f"* **{name}**: "
                f"{entry.get('left_out', entry.get('reads', '') + 'Not built yet.')}"
                for name, entry in entries.items() if name not in {row["package"] for row in rows}]
    return "\n".join([
        _HEAD, *_summary(rows), f"{len(rows)} programs, on {machine(document)}. auto found "
        f"{len(list(filter(_is_worth_it, rows)))} of the fronts *worth it*.", "", _LEGEND,
        table_row(["package", "suite", "start", *_TITLES]),
        table_row(["---"] * 3 + ["---:"] * len(_TITLES)),
        *(line for row in rows for line in _rows(row)), "",
        *(["## Explained", "", *notes, ""] if notes else []),
        "## Left out", "", _LEFT_OUT, *left_out, ""])
