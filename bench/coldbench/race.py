"""bench/race: the command line of the race; one table for each workload, one JSON for all."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from frontload.base import errors

from coldbench import command, contest
from coldbench.show import columns, document, terminal
from coldbench.variants import rows, workload
from coldbench.variants.work_folder import work_folder

WORKLOADS = ("cc1", "cpython", "git", "wasm-tools")


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/race", description="Build several programs in every way that makes them start "
        "faster, and measure all of these from cold in one run, on a device of their own (needs "
        "root). bench/table makes the documents' tables from the result.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=list(WORKLOADS),
                        help=f"folders of bench/workloads (default: {' '.join(WORKLOADS)})")
    command.add_measuring_options(parser, runs=5, json="bench/race.json in --build-dir")
    parser.add_argument("--rows", metavar="NAME,...", help="only these (default: all)")
    parser.add_argument("--no-links", action="store_true", help="do not time links")
    parser.add_argument("--no-recordings", action="store_true", help="do not time recordings")
    parser.add_argument("--build-only", action="store_true",
                        help="build all variants, and measure nothing")
    command.add_build_options(parser)
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where variants are built, a folder for each program (default: bench "
                        "in --build-dir)")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    base = args.work_dir or args.build_dir / "bench"
    wanted = {rows.BASE, *command.choose("--rows", args.rows, list(rows.BY_NAME), "row")}
    prepared = []
    for name in args.workloads:  # a wrong name shows before hours of work
        described, source = workload.load(name)
        chosen = [row for row in rows.of(described) if row.name in wanted]
        prepared.append((described, source, chosen))
    file = args.json or base / "race.json"
    result = document.head(document.RACE, runs=args.runs, workloads=[])
    with command.progress() as progress:
        works = []
        for described, source, chosen in prepared:  # all before the first is measured
            works.append(work_folder(described, source, args.build_dir, args.llvm,
                                     base / described.folder_name))
            progress(f"{described.name}: building the variants")
            contest.build(works[-1], chosen)
        if args.build_only:
            return errors.EXIT_OK
        for work, (_, _, chosen) in zip(works, prepared, strict=True):
            measured = contest.run(work, chosen, runs=args.runs, device=not args.no_device,
                                   links=not args.no_links, recorded=not args.no_recordings,
                                   progress=progress)
            result["workloads"].append(measured)
            document.write(file, result)
            terminal.show(measured, columns.COLUMNS, intervals=False)
            terminal.show_remarks(result["host"], measured)
            terminal.show_first(measured)
    print(f"every run is in {file}")
    same = all(each["outputs_are_identical"] for each in result["workloads"])
    return errors.EXIT_OK if same else errors.EXIT_VERDICT
