"""bench/table: writes the race's result into docs/race.md (show/page.py) and the README.

The README has a small table: a few rows, the first programs. Only the text between two marks is
replaced there.
"""

import argparse
import os
from pathlib import Path

from frontload.base import errors
from frontload.base.errors import BadData
from frontload.base.files import write_if_changed

from coldbench.command import ROOT
from coldbench.show import columns, page
from coldbench.show.document import RACE
from coldbench.show.document import read as read_document
from coldbench.variants import rows

BEGIN, END = "<!-- bench/table wrote this from here on -->", "<!-- up to here -->"

# The README can be read in a minute: its table has this many programs, and these rows besides the
# fastest of all other ways.
SHORT_PROGRAMS = 4
SHORT_PEERS = (rows.BASE, "order")
SHORT_OURS = ("front", "front+prefetch")
FASTEST = "the fastest of the other ways"


def short(document: dict) -> str:
    """The README's table: the first workloads, in a few rows."""
    workloads = document["workloads"][:SHORT_PROGRAMS]
    titles = {FASTEST: FASTEST} | dict(page.titles(workloads))
    return page.overview(workloads, [[titles[name], *(
        _fastest_cell(workload) if name == FASTEST else _short_cell(workload, name)
        for workload in workloads)]
        for name in (*SHORT_PEERS, FASTEST, *SHORT_OURS) if name in titles],
        "Major faults, MB read, and the seconds")


def put_between_marks(text: str, block: str, path: os.PathLike | str) -> str:
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise BadData(path, f"lacks the lines {BEGIN} and {END} around the text to be written")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{block}{END}{after}"


def _short_cell(workload: dict, name: str) -> str:
    variant = next((each for each in workload["variants"] if each["name"] == name), None)
    return columns.ABSENT if variant is None else _cost(variant)


def _fastest_cell(workload: dict) -> str:
    """The cost and the name of the fastest way that is not ours and has no row of its own."""
    others = [each for each in workload["variants"]
              if not each["ours"] and each["name"] not in SHORT_PEERS]
    if not others:
        return columns.ABSENT
    fastest = min(others, key=page.time_ns)
    return f"{_cost(fastest)} ({page.short(fastest)})"


def _cost(variant: dict) -> str:
    cells = {column.heading: column.cell(variant) for column in columns.COLUMNS}
    return (f"{cells['major faults']}, {cells['MB read']} MB, "
            f"{page.time_ns(variant) / 1e9:.2f} s")


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
    readme = put_between_marks(args.readme.read_text(), short(document), args.readme)
    write_if_changed(args.docs, page.render(document).encode())
    write_if_changed(args.readme, readme.encode())
    return errors.EXIT_OK
