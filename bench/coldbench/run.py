"""bench/run: builds the variants of a workload, measures them, and judges the figures."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from frontload.base import errors
from frontload.cli.arguments import count
from frontload.measure import document as measurements

from coldbench import command
from coldbench.judge.verdicts import Verdict, judge_ratio
from coldbench.measure.links import Links, time_pairs
from coldbench.session import Session
from coldbench.show import columns, document, terminal
from coldbench.variants import workload
from coldbench.variants.work_folder import WorkFolder, work_folder

LINK_LIMIT = 1.10


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Build the variants of a real program, measure them from "
        "cold on a device of their own (needs root), and compare them.")
    parser.add_argument("workload", help="a folder of bench/workloads (cc1, cc1-heldout, "
                        "git, ...), or any such folder")
    command.add_measuring_options(parser, runs=10, json="WORKLOAD.result.json in the work folder")
    parser.add_argument("--link-runs", metavar="N", type=count(1), default=5,
                        help="timed links of each linker (default %(default)s)")
    parser.add_argument("--no-links", action="store_true",
                        help="do not time links")
    parser.add_argument("--variants", metavar="NAME,...", help="only these (default: all)")
    parser.add_argument("--no-verdict", action="store_true",
                        help="do not judge the required figures")
    command.add_build_options(parser)
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where variants are built (default: bench/cc1 in --build-dir for "
                        "all that measure cc1, otherwise bench/WORKLOAD)")
    return parser.parse_args(argv)


def measure(work: WorkFolder, variants: Sequence[str], args: argparse.Namespace,
            progress: Callable[[str], None]) -> dict:
    """Builds and measures; returns the workload's part of the document."""
    progress("building the variants")
    described = work.workload
    work.build(work.targets(variants))
    links = None
    if described.timed_links and not args.no_links:
        links = time_pairs(work, args.link_runs, progress)
    session = Session(work, variants, runs=args.runs, device=not args.no_device,
                      progress=progress)
    verdicts = [
        *(requirement.judge(session.figures) for requirement in described.requirements),
        Verdict("the program's output is identical in all variants",
                session.workload["outputs_are_identical"]),
        *_judge_links(links),
        *session.predictions]
    return session.workload | {
        "links": links and links.to_json(),
        "verdicts": [] if args.no_verdict else [
            {"text": verdict.text, "holds": verdict.holds} for verdict in verdicts],
        "measurements": {name: measurements.to_json(measurement)
                         for name, measurement in session.starts.measurements.items()},
    }


def _judge_links(links: Links | None) -> list[Verdict]:
    if links is None:
        return []
    return [judge_ratio(what, "ld.lld's", ratio, at_most=LINK_LIMIT)
            for what, ratio in (("link time with a profile", links.time_ratio),
                                ("peak memory of the link", links.memory_ratio))]


def run(args: argparse.Namespace) -> int:
    described, source = workload.load(args.workload)
    variants = command.choose("--variants", args.variants, described.variants, "variant")
    work = work_folder(described, source, args.build_dir, args.llvm, args.work_dir)
    result = document.head(document.RUN, runs=args.runs)
    with command.progress() as progress:
        measured = measure(work, variants, args, progress)
    file = args.json or work.folder / f"{described.name}.result.json"
    document.write(file, result | {"workloads": [measured]})
    terminal.show(measured, columns.RUN)
    terminal.show_predictions(measured)
    terminal.show_remarks(result["host"], measured)
    terminal.show_required(measured)
    print(f"every run is in {file}")
    failed = any(verdict["holds"] is False for verdict in measured["verdicts"])
    return errors.EXIT_VERDICT if failed else errors.EXIT_OK
