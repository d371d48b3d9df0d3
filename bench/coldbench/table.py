"""bench/table: writes the race's result into docs/race.md and the README.

    docs/race.md   all programs side by side, then all columns of each
    README.md      a small table: a few rows, the first programs

The same result gives the same text. In the README, only the text between two marks is replaced.
"""

import argparse
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from frontload.base import errors
from frontload.base.errors import BadData
from frontload.base.files import write_if_changed

from coldbench.command import ROOT
from coldbench.measure.recordings import RECORDERS
from coldbench.show import columns
from coldbench.show.document import RACE
from coldbench.show.document import read as read_document
from coldbench.variants import rows

BEGIN, END = "<!-- bench/table wrote this from here on -->", "<!-- up to here -->"
LIMIT = "touched bytes (the limit)"

# The README can be read in a minute: its table has this many programs, and these rows besides the
# fastest of all other ways.
SHORT_PROGRAMS = 4
SHORT_PEERS = (rows.BASE, "order")
SHORT_OURS = ("front", "front+prefetch")
FASTEST = "the fastest of the other ways"


def render(document: dict) -> str:
    """docs/race.md: all workloads side by side, then a table with all columns for each."""
    parts = [_introduction(document), side_by_side(document), _legend(document)]
    for workload in document["workloads"]:
        parts.append(_section(workload))
    return "\n".join(parts)


def side_by_side(document: dict) -> str:
    """The table above the others: seconds, a row for each way, a column for each workload."""
    workloads = document["workloads"]
    found = [{variant["name"]: variant for variant in workload["variants"]}
             for workload in workloads]
    return _overview(workloads, [
        [title, *(f"{_time(variants[name]) / 1e9:.3f}" if name in variants else columns.ABSENT
                  for variants in found)] for name, title in _titles(workloads)], "Seconds")


def short(document: dict) -> str:
    """The README's table: the first workloads, in a few rows."""
    workloads = document["workloads"][:SHORT_PROGRAMS]
    titles = {FASTEST: FASTEST} | dict(_titles(workloads))
    return _overview(workloads, [[titles[name], *(
        _fastest_cell(workload) if name == FASTEST else _short_cell(workload, name)
        for workload in workloads)]
        for name in (*SHORT_PEERS, FASTEST, *SHORT_OURS) if name in titles],
        "Major faults, MB read, and the seconds")


def _overview(workloads: Sequence[dict], rows: Iterable[Sequence[str]], what: str) -> str:
    lines = [_line(["linked by", *(_escape(workload["name"]) for workload in workloads)]),
             _line(["---"] * (len(workloads) + 1)), *map(_line, rows),
             "", f"{what} {_caption(workloads[0]['place'])}"]
    return "\n".join(lines) + "\n"


def put_between_marks(text: str, block: str, path: os.PathLike | str) -> str:
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise BadData(path, f"lacks the lines {BEGIN} and {END} around the text to be written")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{block}{END}{after}"


def _introduction(document: dict) -> str:
    host, place = document["host"], document["workloads"][0]["place"]
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
variants from cold in one session. `bench/table` wrote this page from the \
result, with {errors.count(document['runs'], 'run')} of each kind.

* **Machine:** {_escape(host['kernel'])}, {_escape(host['processor'])}, {host['processors']} \
processors; {_escape(place['file_system'])} on {device}\
{f', readahead {ahead} KiB' if ahead else ''}. Only the program's own file is cold.{slow}
* **Trained:** each profile was recorded with the command that is measured. `bench/heldout` \
predicts untrained startups.
"""


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
    headings = ["", *(column.heading for column in columns.PAGE)]
    lines = [f"## {_escape(workload['name'])}", "", f"{_escape(workload['title'])}.", "",
             _line(headings), _line(["---"] * len(headings))]
    titles = dict(_titles([workload]))
    variants = {variant["name"]: variant for variant in workload["variants"]}
    lines += [_line([_short(variants[name]), *(columns.mean(column.cell(variants[name]))
                                               for column in columns.PAGE)])
              for name in titles if name in variants]
    lines.append(_line([LIMIT, *columns.limit(workload, columns.PAGE)]))
    lines.append("")
    sentence, rest = columns.verdicts(workload)
    rest += columns.predictions(workload) + _slowdowns(workload)
    lines += [sentence, "", *(f"* {_escape(line)}" for line in rest)]
    absent: dict[str, list[str]] = {}
    for each in sorted(workload["absent"], key=lambda each: list(titles).index(each["name"])):
        absent.setdefault(each["why"], []).append(_short(each))
    lines += [f"* not built: {', '.join(names)}: {_escape(why)}" for why, names in absent.items()]
    if not workload["outputs_are_identical"]:
        lines += ["", "**The program's output is not identical in all variants.**"]
    lines += [f"\nMissing: {_escape(missing)}" for missing in workload["missing"]]
    return "\n".join(lines) + "\n"


def _titles(workloads: Iterable[dict]) -> list[tuple[str, str]]:
    """The rows that any of the workloads has or declares absent, in order, and their titles."""
    named = {each["name"]: each["title"] for workload in workloads
             for each in (*workload["variants"], *workload["absent"])}
    order = {row.name: number for number, row in enumerate(rows.ROWS)}
    return sorted(named.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))


def _short_cell(workload: dict, name: str) -> str:
    variant = next((each for each in workload["variants"] if each["name"] == name), None)
    return columns.ABSENT if variant is None else _cost(variant)


def _fastest_cell(workload: dict) -> str:
    """The cost and the name of the fastest way that is not ours and has no row of its own."""
    others = [each for each in workload["variants"]
              if not each["ours"] and each["name"] not in SHORT_PEERS]
    if not others:
        return columns.ABSENT
    fastest = min(others, key=_time)
    return f"{_cost(fastest)} ({_short(fastest)})"


def _short(each: dict) -> str:
    """The name of a variant within a sentence or a cell."""
    row = rows.BY_NAME.get(each["name"])
    return row.short if row and row.short else each["title"]


def _cost(variant: dict) -> str:
    cells = {column.heading: column.cell(variant) for column in columns.COLUMNS}
    return (f"{cells['major faults']}, {cells['MB read']} MB, "
            f"{_time(variant) / 1e9:.2f} s")


def _time(variant: dict) -> float:
    # The throttle's first slice would make all small programs equally fast.
    return variant["slow_by_requests_ns"] or variant["cold"]["wall_ns"]["mean"]


def _caption(place: dict) -> str:
    limits = place["throttle"]
    if not limits:
        return "of a cold startup."
    return (f"of a cold startup on a device of {limits['iops']} requests and "
            f"{limits['bytes_per_second'] / 1e6:g} MB a second: computed from the counted "
            "requests and bytes, plus the time of a warm startup.")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """Names and messages may hold anything; in Markdown they are text, in one line."""
    line = errors.printable(text)
    return re.sub(r"([\\|<>*_\[\]])", r"\\\1", line) if "`" not in line else \
        line.replace("|", "\\|").replace("<", "\\<")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/table", description="Write the tables of the documents from a result of "
        "bench/race.")
    parser.add_argument("race", metavar="RACE.json", type=Path)
    parser.add_argument("--docs", metavar="FILE", type=Path, default=ROOT / "docs/race.md",
                        help="the page with all rows and columns (default %(default)s)")
    parser.add_argument("--readme", metavar="FILE", type=Path, default=ROOT / "README.md",
                        help="the file with the small table, between its two marks (default "
                        "%(default)s)")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    document = read_document(args.race, race=RACE)
    page = render(document)
    readme = put_between_marks(args.readme.read_text(), short(document), args.readme)
    write_if_changed(args.docs, page.encode())
    write_if_changed(args.readme, readme.encode())
    return errors.EXIT_OK
