"""What bench/run and bench/race show of a measured workload."""

from collections.abc import Sequence

from frontload.base import console
from rich.table import Table

from coldbench.judge import replay
from coldbench.show import columns
from coldbench.show.columns import Column

# Of predictions: the figure, its heading, and its form.
_PREDICTED = (("major_faults", "major\nfaults", columns.count),
              ("read_bytes", "MB\nread", columns.megabytes),
              ("read_runs", "extents\nread", columns.count),
              ("requests", "requests", columns.count),
              ("throttled_seconds", "cold s,\nslow", "{:.2f}".format))
_WORDS = {True: "ok", False: "FAIL", None: "not judged"}


def show(workload: dict, shown: Sequence[Column], *, intervals: bool = True) -> None:
    """A workload's table, and what it lacks."""
    print(f"{workload['title']}, from cold:")
    console.show(_variants(workload, shown, intervals))
    for absent in workload.get("absent", ()):
        print(f"{absent['name']}: {absent['why']}")
    print()


def _variants(workload: dict, shown: Sequence[Column], intervals: bool) -> Table:
    lines = [(variant["name"], [column.cell(variant) for column in shown])
             for variant in workload["variants"]]
    if not intervals:
        lines = [(name, [columns.mean(cell) for cell in cells]) for name, cells in lines]
    # Columns without a value take no room.
    kept = [number for number in range(len(shown))
            if any(cells[number] != columns.ABSENT for _, cells in lines)]
    headings = (shown[number].heading.replace(" ", "\n") for number in kept)
    table = console.table("variant", *headings, numbers=range(1, len(kept) + 1))
    table.columns[0].no_wrap = True
    if "limit" in workload:
        lines.append(("limit", columns.limit(workload)))
    for name, cells in lines:
        console.add_row(table, name, *(cells[number] for number in kept))
    return table


def show_remarks(host: dict, workload: dict) -> None:
    """Notes for readers of the figures: where they were measured, and what went wrong."""
    place = workload["place"]
    print(f"{host['kernel']}, {host['processor']} ({host['processors']} processors), "
          f"{place['file_system']}, readahead {place['read_ahead_kib']} KiB")
    if place["own_device"]:
        print("plain: loop device, its backing file locked in the page cache")
    if place["throttle"]:
        limits = place["throttle"]
        print(f"slow: {limits['iops']} requests and {limits['bytes_per_second'] / 1e6:.0f} MB per "
              "second, by the kernel")
    print("counts are medians, MB are 10^6 bytes, times are means ± half their 95% confidence "
          "interval, ratios are paired by round")
    for warning in workload["warnings"]:
        print(f"warning: {warning}")
    for missing in workload["missing"]:
        print(f"missing: {missing}")
    print()


def show_predictions(workload: dict) -> None:
    """Predicted / the kernel's counts, a line for each variant; or why it is not predicted."""
    table = console.table("predicted /\nthe kernel's", *(heading for _, heading, _ in _PREDICTED),
                          numbers=range(1, len(_PREDICTED) + 1))
    for variant in workload["variants"]:
        name, predicted, counted = variant["name"], variant["prediction"], replay.measured(variant)
        if replay.is_made(predicted):
            console.add_row(table, name, *(
                " / ".join(say(each[figure]) if figure in each else "-"
                           for each in (predicted, counted)) for figure, _, say in _PREDICTED))
        else:
            print(f"not predicted: {name}: {predicted['why']}")
    if table.rows:
        console.show(table)
    print()


def show_required(workload: dict) -> None:
    """The verdicts of bench/run, one in a line."""
    for verdict in workload["verdicts"]:
        print(f"{_WORDS[verdict['holds']]:10}  {verdict['text']}")


def show_first(workload: dict) -> None:
    """The verdicts of bench/race: how many figures ours is first in, and which not."""
    if not workload["outputs_are_identical"]:
        print("FAIL: the program's output is not identical in all variants")
    for line in columns.predictions(workload):
        print(line)
    sentence, rest = columns.verdicts(workload)
    print(sentence)
    for line in rest:
        print(f"  {line}")
    print()
