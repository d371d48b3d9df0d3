"""bench/run: builds the variants of a workload, measures them, and judges the figures."""

import argparse
from pathlib import Path

from frontload.base import errors

from coldbench import bench, command
from coldbench.show import columns, document, terminal
from coldbench.variants import workload
from coldbench.variants.work_folder import work_folder


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Build the variants of a real program, measure them from "
        "cold on a device of their own (needs root), and compare them.")
    parser.add_argument("workload", help="a folder of bench/workloads (cc1, cc1-heldout, "
                        "cc1-library), or any such folder")
    command.add_measuring_options(parser, runs=10, json="WORKLOAD.result.json in the work folder")
    parser.add_argument("--link-runs", metavar="N", type=command.at_least(1), default=5,
                        help="timed links of each linker (default %(default)s)")
    parser.add_argument("--no-links", action="store_true",
                        help="neither time links nor compare linked files")
    parser.add_argument("--variants", metavar="NAME,...", help="only these (default: all)")
    parser.add_argument("--no-verdict", action="store_true",
                        help="do not judge the required figures")
    command.add_build_options(parser)
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where variants are built (default: bench/cc1 in --build-dir for "
                        "all that measure cc1, otherwise bench/WORKLOAD)")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    described, source = workload.load(args.workload)
    variants = command.choose("--variants", args.variants, described.variants, "variant")
    work = work_folder(described, source, args.build_dir, args.llvm, args.work_dir)
    result = document.head(document.RUN, runs=args.runs)
    with command.progress() as progress:
        measured = bench.run(work, variants, runs=args.runs, progress=progress,
                             link_runs=0 if args.no_links else args.link_runs,
                             device=not args.no_device, judged=not args.no_verdict)
    file = args.json or work.folder / f"{described.name}.result.json"
    document.write(file, result | {"workloads": [measured]})
    terminal.show(measured, columns.RUN)
    terminal.show_predictions(measured)
    terminal.show_links(measured["links"])
    terminal.show_remarks(result["host"], measured)
    terminal.show_required(measured)
    print(f"every run is in {file}")
    failed = any(verdict["holds"] is False for verdict in measured["verdicts"])
    return errors.EXIT_VERDICT if failed else errors.EXIT_OK
