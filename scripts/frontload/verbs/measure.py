"""frontload measure: cold and warm starts of a command, or of several variants of a program."""

import argparse
import sys

from frontload import errors
from frontload.errors import EXIT_OK, EXIT_VERDICT
from frontload.files import write_output

DESCRIPTION = """\
Measure how a command starts: page faults, what is read from its files, memory and time, from cold
(only the named files are dropped from the page cache, and that is verified) and from warm.

To compare variants of a program, name each binary and write {} where it belongs in the command;
rounds of all variants are interleaved, and times are compared within rounds:

  frontload measure -- ./app --version
  frontload measure --variant old=./app.old --variant new=./app.new -- {} --version
"""


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "measure", help="measure cold and warm starts, and compare binaries",
        description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", metavar="NAME=BINARY", action="append", default=[],
                        type=_variant, help="a binary to measure in the place of {} in COMMAND; "
                        "the first one is what the others are compared with")
    parser.add_argument("--name", help="what to call the command if there are no variants")
    parser.add_argument("--runs", metavar="N", type=_count(1), default=10,
                        help="rounds for each condition (default %(default)s)")
    parser.add_argument("--warmup", metavar="N", type=_count(0), default=1,
                        help="runs of each variant beforehand, so that the libraries and inputs "
                        "they share are warm (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order within rounds")
    condition = parser.add_mutually_exclusive_group()
    condition.add_argument("--cold", dest="conditions", action="store_const", const=("cold",),
                           help="only cold runs")
    condition.add_argument("--warm", dest="conditions", action="store_const", const=("warm",),
                           help="only warm runs")
    condition.add_argument("--both", dest="conditions", action="store_const",
                           const=("cold", "warm"), help="cold runs, then warm runs (the default)")
    parser.set_defaults(conditions=("cold", "warm"))
    parser.add_argument("--evict", metavar="FILE", action="append", default=[],
                        help="a file to evict and to observe instead of the measured binary, which "
                        "is {} here too; may be repeated")
    parser.add_argument("--allow-warm", action="store_true",
                        help="measure also if pages stay in the cache; the result says so")
    parser.add_argument("--ignore-failure", action="store_true",
                        help="measure also if the command fails")
    parser.add_argument("--compare-output", metavar="FILE", nargs="?", const="stdout",
                        action="append", default=[],
                        help="exit 1 unless all runs wrote the same to stdout, or to FILE (which "
                        "is removed before each run); may be repeated")
    parser.add_argument("--sections", action="store_true",
                        help="also show what was read from each section")
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-",
                        help="write every run as JSON to FILE, or to stdout instead of the table")
    parser.add_argument("command", metavar="COMMAND", nargs="+",
                        help="the command and its arguments, after --")
    return parser


def _variant(text: str) -> tuple[str, str]:
    name, equals, binary = text.partition("=")
    if not (name and equals and binary):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=BINARY")
    return name, binary


def _count(least: int):
    def count(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} up")
        return int(text)
    return count


def run(args: argparse.Namespace) -> int:
    # Imported here because numpy and scipy take most of a second, which other verbs need not pay.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from frontload import measure_report
    from frontload.measure import Plan, make_variants, measure
    from frontload.measure_run import Launcher

    plan = Plan(make_variants(args.command, args.variant, args.evict, args.name),
                conditions=args.conditions, runs=args.runs, warmup=args.warmup, seed=args.seed,
                allow_warm=args.allow_warm, ignore_failure=args.ignore_failure,
                compare=tuple(dict.fromkeys(args.compare_output)))
    total = len(plan.variants) * (plan.warmup + plan.runs * len(plan.conditions))
    with Progress(TextColumn("{task.description}", markup=False), BarColumn(),
                  MofNCompleteColumn(), console=Console(stderr=True), transient=True,
                  disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=total)
        result = measure(plan, Launcher(), progress=lambda doing: bar.update(
            task, advance=1, description=doing))

    for text in measure_report.warnings(result):
        errors.warning(text)
    if args.json:
        write_output(None if args.json == "-" else args.json,
                     measure_report.dump(measure_report.to_json(result)))
    if args.json != "-":
        measure_report.print_report(result, sections=args.sections)
    return EXIT_VERDICT if result.differing_outputs() else EXIT_OK
