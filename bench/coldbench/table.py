"""bench/table: makes what the documents show of a result of bench/race.

    docs/race.json          the result without commands and single runs: what all figures are from
    docs/reference/race.md  all rows and columns (show/page.py)
    README.md               a few rows of some programs, between two marks
"""

import argparse
import os
from pathlib import Path

from frontload.base import errors
from frontload.base.errors import BadData
from frontload.base.files import write_if_changed

from coldbench.command import ROOT
from coldbench.show import columns, document, page
from coldbench.variants import rows

BEGIN, END = "<!-- bench/table wrote this from here on -->", "<!-- up to here -->"

# The README can be read in a minute: its table has these programs, as it calls them, in these rows
# and the fastest of all other ways that are not ours.
PROGRAMS = {"cc1": "clang 22, C++, 207 MB", "cc1-heldout": "the same at **untrained** work",
            "cpython": "CPython 3.11, C", "wasm-tools": "wasm-tools, Rust", "z3": "z3, C++"}
SHORT = {rows.BASE: "lld", "order+relr": "lld, order file, packed relocations",
         "front+prefetch": "**Frontload**", "trained": "**Frontload**"}
COLUMNS = ("major faults", "MB read", "peak RSS MB")


def short(result: dict) -> str:
    lines = [page.table_row(["program", "linked by", *COLUMNS, "seconds"]),
             page.table_row(["---", "---", *["---:"] * 4])]
    for workload in result["workloads"]:
        if workload["name"] not in PROGRAMS:
            continue
        title = PROGRAMS[workload["name"]]
        for variant in _shown(workload["variants"]):
            cells = {column.heading: column.cell(variant) for column in columns.COLUMNS}
            lines.append(page.table_row([
                title, SHORT.get(variant["name"]) or page.short(variant),
                *(cells[name] for name in COLUMNS), f"{page.time_ns(variant) / 1e9:.2f}"]))
            title = ""
    kernel, place = result["host"]["kernel"].split("-")[0], result["workloads"][0]["place"]
    return "\n".join([*lines, "", f"Seconds {page.caption(place)} {kernel}, "
                      f"{place['file_system']}, readahead {place['read_ahead_kib']} KiB, only the "
                      f"program's file cold: medians of {result['runs']} runs."]) + "\n"


def _shown(variants: list[dict]) -> list[dict]:
    others = [each for each in variants if not each["ours"] and each["name"] != rows.BASE]
    fastest = min(others, key=page.time_ns, default=None)
    return [each for each in variants if each["name"] in SHORT or each is fastest]


def put_between_marks(text: str, block: str, path: os.PathLike | str) -> str:
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise BadData(path, f"lacks the lines {BEGIN} and {END} around the text to be written")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{block}{END}{after}"


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/table", description="Write the tables of the documents from a result of "
        "bench/race.")
    parser.add_argument("race", metavar="RACE.json", type=Path)
    parser.add_argument("--root", metavar="DIR", type=Path, default=ROOT,
                        help="where README.md and docs are (default %(default)s)")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    result = document.read(args.race, race=document.RACE)
    for workload in result["workloads"]:
        workload.pop("command", None)  # has paths of the machine
        for variant in workload["variants"]:
            variant.pop("runs", None)
            (variant["requests"] or {}).pop("by_round", None)
    file = args.root / "README.md"
    readme = put_between_marks(file.read_text(), short(result), file)
    document.write(args.root / "docs/race.json", result)
    write_if_changed(args.root / "docs/reference/race.md", page.render(result).encode())
    write_if_changed(file, readme.encode())
    return errors.EXIT_OK
