"""What bench/race shows of a measured workload."""

from frontload.base import console
from rich.table import Table

from coldbench.show import columns


def show(workload: dict) -> None:
    """A workload's table, and what it lacks."""
    print(f"{workload['title']}, from cold:")
    console.show(_variants(workload))
    for absent in workload["absent"]:
        print(f"{absent['name']}: {absent['why']}")
    print()


def _variants(workload: dict) -> Table:
    """The figures without their intervals, which are in the documents."""
    shown = columns.COLUMNS
    lines = [(variant["name"], [columns.mean(column.cell(variant)) for column in shown])
             for variant in workload["variants"]]
    # Columns without a value take no room.
    kept = [number for number in range(len(shown))
            if any(cells[number] != columns.ABSENT for _, cells in lines)]
    headings = (shown[number].heading.replace(" ", "\n") for number in kept)
    table = console.table("variant", *headings, numbers=range(1, len(kept) + 1))
    table.columns[0].no_wrap = True
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
          "interval")
    for warning in workload["warnings"]:
        print(f"warning: {warning}")
    for missing in workload["missing"]:
        print(f"missing: {missing}")
    print()


def show_first(workload: dict) -> None:
    """The verdicts: how many figures ours is first in, and which not."""
    if not workload["outputs_are_identical"]:
        print("FAIL: the program's output is not identical in all variants")
    for line in columns.predictions(workload):
        print(line)
    sentence, rest = columns.verdicts(workload)
    print(sentence)
    for line in rest:
        print(f"  {line}")
    print()
