"""The page of a result of bench/race, as Markdown: all programs side by side, then all columns of
each. The same result gives the same text.
"""

import re
from collections.abc import Iterable, Sequence

from frontload.base import errors

from coldbench.measure.recordings import RECORDERS
from coldbench.show import columns
from coldbench.variants import rows

LIMIT = "touched bytes (the limit)"
# A workload whose folder has a name that means another program to most readers.
NAMES = {"cc1": "clang"}


def render(document: dict) -> str:
    """The page: all workloads side by side, then a table with all columns for each."""
    parts = [_introduction(document), side_by_side(document), _legend(document)]
    for workload in document["workloads"]:
        parts.append(_section(workload))
    return "\n".join(parts)


def side_by_side(document: dict) -> str:
    """The table above the others: seconds, a row for each way, a column for each workload."""
    workloads = document["workloads"]
    found = [{variant["name"]: variant for variant in workload["variants"]}
             for workload in workloads]
    lines = [table_row(["linked by", *(_name(workload) for workload in workloads)]),
             table_row(["---"] * (len(workloads) + 1))]
    lines += [table_row([title, *(f"{time_ns(variants[name]) / 1e9:.3f}" if name in variants
                             else columns.ABSENT for variants in found)])
              for name, title in titles(workloads)]
    return "\n".join([*lines, "", f"Seconds {caption(workloads[0]['place'])}"]) + "\n"


def _introduction(document: dict) -> str:
    place = document["workloads"][0]["place"]
    device = ("a loop device of its own whose backing file is in memory"
              if place["own_device"] else "the file system of the build folder")
    slow = ""
    if place["throttle"]:
        slow = (f" The slow device is the same one, throttled by the kernel to "
                f"{place['throttle']['iops']} requests and "
                f"{place['throttle']['bytes_per_second'] / 1e6:g} MB a second.")
    ahead = place["read_ahead_kib"]
    return f"""# The race

`bench/race` builds each program in every way we know to make it start faster, and measures all
variants from cold in one session. `bench/table` wrote this page from \
[the result](../race.json), with {errors.count(document['runs'], 'run')} of each kind.

* **Machine:** {machine(document)}; {_escape(place['file_system'])} on {device}\
{f', readahead {ahead} KiB' if ahead else ''}. Only the program's own file is cold.{slow}
* **Trained:** each profile was recorded with the command that is measured. `bench/heldout` \
predicts untrained startups.
"""


def machine(found: dict) -> str:
    """The machine of a document, or of a workload that was measured on another one."""
    host = found["host"]
    return (f"{_escape(host['kernel'])}, {_escape(host['processor'])}, {host['processors']} "
            "processors")


def _legend(document: dict) -> str:
    return f"""The tables below have the figures of each program.

* Counts are medians, MB are 10^6 bytes, and times are means.{_widest(document)}
* *Requests* are the reads that the device served.
* *cold s, slow* is measured on the throttled device. The throttle lets the first 0.1 s of \
requests through at once, which a real disk does not. So the table above computes the seconds: all \
requests or all bytes, whichever takes longer, plus a warm startup.
* *link s* is the median of three links, or a single link if it takes more than 10 s. BOLT's time \
includes the rewrite.
* *Predicted* faults, bytes, extents and requests are those of `frontload predict`, with traces of \
the first row's file.
* *Touched bytes* are the bytes of the file that the startup uses, in granules of 16. They are \
the limit for any layout.
"""


def _widest(document: dict) -> str:
    """How wide the intervals of the times are that the page leaves out."""
    widest = [max((time["high"] - time["low"]) / 2e9 for time in times) for condition in (
        "cold", "slow", "warm") if (times := [
            variant[condition]["wall_ns"] for workload in document["workloads"]
            for variant in workload["variants"] if variant.get(condition)
            and variant[condition]["wall_ns"]["low"] is not None])]
    return (" Half of the widest 95% confidence interval is "
            f"{max(widest):.3f} s." if widest else "")


def _slowdowns(workload: dict) -> list[str]:
    """What recording costs, by each recorder in the order of declaration."""
    found = {each["recorder"]: each["slowdown"] for variant in workload["variants"]
             for each in variant["recording"] or ()}
    named = [f"{recorder.title} {columns.times(found[name])}"
             for name, recorder in RECORDERS.items() if name in found]
    return [f"times slower while recorded: {', '.join(named)}"] if named else []


def _section(workload: dict) -> str:
    headings = ["", *(column.heading for column in columns.COLUMNS)]
    lines = [f"## {_name(workload)}", "", f"{_escape(workload['title'])}.", "",
             table_row(headings), table_row(["---"] * len(headings))]
    named = dict(titles([workload]))
    variants = {variant["name"]: variant for variant in workload["variants"]}
    lines += [table_row([short(variants[name]), *(column.cell(variants[name])
                                               for column in columns.COLUMNS)])
              for name in named if name in variants]
    if touched := workload["limit"]["touched_bytes"]:
        lines.append(table_row([LIMIT, *(columns.megabytes(touched) if column.heading == "MB read"
                                         else "" for column in columns.COLUMNS)]))
    lines.append("")
    if "host" in workload:
        lines += ["Measured before, on another machine and with the Frontload of that "
                  f"time: {machine(workload)}.", ""]
    sentence, rest = columns.verdicts(workload)
    rest += columns.predictions(workload) + _slowdowns(workload)
    lines += [sentence, "", *(f"* {_escape(line)}" for line in rest)]
    absent: dict[str, list[str]] = {}
    for each in sorted(workload["absent"], key=lambda each: list(named).index(each["name"])):
        absent.setdefault(each["why"], []).append(short(each))
    lines += [f"* not built: {', '.join(names)}: {_escape(why)}" for why, names in absent.items()]
    if not workload["outputs_are_identical"]:
        lines += ["", "**The program's output is not identical in all variants.**"]
    lines += [f"\nMissing: {_escape(missing)}" for missing in workload["missing"]]
    return "\n".join(lines) + "\n"


def titles(workloads: Iterable[dict]) -> list[tuple[str, str]]:
    """The rows that any of the workloads has or declares absent, in order, and their titles."""
    named = {each["name"]: each["title"] for workload in workloads
             for each in (*workload["variants"], *workload["absent"])}
    order = {row.name: number for number, row in enumerate(rows.ROWS)}
    return sorted(named.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))


def _name(workload: dict) -> str:
    return _escape(NAMES.get(workload["name"], workload["name"]))


def short(each: dict) -> str:
    """The name of a variant within a sentence or a cell."""
    row = rows.BY_NAME.get(each["name"])
    return row.short if row and row.short else each["title"]


def time_ns(variant: dict) -> float:
    # The throttle's first slice would make all small programs equally fast.
    return variant["slow_by_requests_ns"] or variant["cold"]["wall_ns"]["mean"]


def caption(place: dict) -> str:
    limits = place["throttle"]
    if not limits:
        return "of a cold startup."
    return (f"of a cold startup on a device of {limits['iops']} requests and "
            f"{limits['bytes_per_second'] / 1e6:g} MB a second: computed from the counted "
            "requests and bytes, plus the time of a warm startup.")


def table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """Names and messages may hold anything; in Markdown they are text, in one line."""
    line = errors.printable(text)
    return re.sub(r"([\\|<>*_\[\]])", r"\\\1", line) if "`" not in line else \
        line.replace("|", "\\|").replace("<", "\\<")
