"""bench/table: makes what the documents show of results of bench/race and bench/heldout.

    docs/race.json          the results without single runs and the like: what all figures are from
    docs/heldout.json       the same of bench/heldout
    docs/reference/race.md  all rows and columns (show/page.py)
    README.md               a few rows of some programs, between two marks
    docs/case-studies.md    startups that were not trained, between two marks (show/untrained.py)
"""

import argparse
import json
import os
from pathlib import Path

from frontload.base import errors
from frontload.base.errors import BadData
from frontload.base.files import write_if_changed

from coldbench.command import ROOT
from coldbench.show import columns, document, page, untrained
from coldbench.variants import rows

BEGIN, END = "<!-- bench/table wrote this from here on -->", "<!-- up to here -->"

# The README can be read in a minute: its table has these programs, as it calls them, in these rows
# and the fastest of all other ways that are not ours.
PROGRAMS = {"cc1": "clang 22, C++, 207 MB", "postgresql": "PostgreSQL 15, C, to its first query",
            "cpython": "CPython 3.11, C", "wasm-tools": "wasm-tools, Rust"}
SHORT = {rows.BASE: "lld", "order+relr": "lld, order file, packed relocations",
         "front+prefetch": "**Frontload**"}
COLUMNS = ("major faults", "MB read", "peak RSS MB")
# What docs/race.json keeps of the starts of a variant.
FIGURES = "major_faults", "read_bytes", "max_rss_bytes", "wall_ns"
STATISTICS = "median", "mean", "low", "high"


def short(result: dict, heldout: dict) -> str:
    lines = [page.table_row(["program", "linked by", *COLUMNS, "seconds"]),
             page.table_row(["---", "---", *["---:"] * 4])]
    found = {workload["name"]: workload for workload in result["workloads"]}
    for name in (name for name in PROGRAMS if name in found):
        workload, title = found[name], PROGRAMS[name]
        for variant in _shown(workload["variants"]):
            cells = {column.heading: column.cell(variant) for column in columns.COLUMNS}
            lines.append(page.table_row([
                title, SHORT.get(variant["name"]) or page.short(variant),
                *(cells[name] for name in COLUMNS), f"{page.time_ns(variant) / 1e9:.2f}"]))
            title = ""
        if name == "cc1":
            lines += untrained.readme_rows(heldout["workloads"])
    place = result["workloads"][0]["place"]
    text = (f"Seconds {page.caption(place)} {_kernel(result)} ([other kernels]"
            f"(docs/reference/kernels.md)), {place['file_system']}, readahead "
            f"{place['read_ahead_kib']} KiB, only the program's file cold: medians of "
            f"{result['runs']} runs. Startups that were not trained are predicted, without the "
            "time of the processor.")
    return "\n".join([*lines, "", text]) + "\n"


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
        prog="bench/table", description="Write the tables of the documents from results of "
        "bench/race and bench/heldout.")
    parser.add_argument("races", metavar="RACE.json", nargs="+", type=Path,
                        help="workloads of later results replace those of earlier ones")
    parser.add_argument("--heldout", metavar="HELDOUT.json", nargs="+", type=Path,
                        help="the same of bench/heldout (default docs/heldout.json in --root)")
    parser.add_argument("--root", metavar="DIR", type=Path, default=ROOT,
                        help="where README.md and docs are (default %(default)s)")
    return parser.parse_args(argv)


def merged(races: list[Path]) -> dict:
    """The results as one. A workload notes its machine if that is not the first one's."""
    first, *others = (document.read(race, race=document.RACE) for race in races)
    found = {workload["name"]: workload for workload in first["workloads"]}
    for race, other in zip(races[1:], others, strict=True):
        if _counted(other) != _counted(first):
            raise BadData(race, f"cannot be added to {races[0]}: another number of runs, kernel, "
                          "file system or device")
        for workload in other["workloads"]:
            found[workload["name"]] = (  # which may be of a third one
                {} if page.machine(other) == page.machine(first) else {"host": other["host"]}
            ) | workload
    return first | {"workloads": list(found.values())}


def _counted(result: dict) -> tuple:
    """What counts depend on, unlike times not on the processor."""
    return result["runs"], _kernel(result), result["workloads"][0]["place"]


def _kernel(result: dict) -> str:
    return result["host"]["kernel"].split("-")[0]


def slim(result: dict) -> None:
    """Drops paths of the machine, and what no table shows."""
    for workload in result["workloads"]:
        for name in ("command", "warnings"):
            workload.pop(name, None)
        for variant in workload["variants"]:
            for name in ("runs", "read_pages", "page_size"):
                variant.pop(name, None)
            (variant["requests"] or {}).pop("by_round", None)
            for condition in ("cold", "slow", "warm"):
                variant[condition] = variant[condition] and {
                    name: {each: value for each, value in figure.items() if each in STATISTICS}
                    for name, figure in variant[condition].items() if name in FIGURES}


def run(args: argparse.Namespace) -> int:
    result = merged(args.races)
    slim(result)
    docs = args.root / "docs"
    held = [document.read(file, heldout=document.HELDOUT)
            for file in args.heldout or [docs / "heldout.json"]]
    heldout = held[0] | {"workloads": list(
        {workload["name"]: workload for each in held for workload in each["workloads"]}.values())}
    written = {docs / "reference/race.md": page.render(result)}
    for file, block in ((args.root / "README.md", short(result, heldout)),
                        (docs / "case-studies.md", untrained.table(heldout["workloads"]))):
        written[file] = put_between_marks(file.read_text(), block, file)
    for name, each in (("race.json", result), ("heldout.json", heldout)):
        # A line for each workload, variant and row.
        text = json.dumps(each).replace('{"name": ', '\n{"name": ')
        written[docs / name] = text.replace('{"trained_with": ', '\n{"trained_with": ') + "\n"
    for file, text in written.items():
        write_if_changed(file, text.encode())
    return errors.EXIT_OK
