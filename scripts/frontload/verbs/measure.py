"""frontload measure: cold and warm starts of a command, or of several variants of a program."""

import argparse
import sys
from contextlib import ExitStack
from dataclasses import replace

from frontload.base import errors, processes
from frontload.base.errors import EXIT_OK, EXIT_VERDICT
from frontload.base.files import STDOUT, write_output
from frontload.cli import conditions, device_options
from frontload.cli.arguments import ComparedOutput, add_json, compared_output, count, named
from frontload.device.kinds import Device
from frontload.measure.conditions import ORDER, SELECTIVELY_COLD, WARM
from frontload.measure.plan import RUNS, Plan, count_runs, make_variants

DESCRIPTION = """\
Measure how a command starts: page faults, what is read from its files, memory and time.

To compare variants of a program, name each binary and write {} where it belongs in the command;
rounds of all variants are interleaved, and times are compared within rounds.

Starts are measured selectively cold (only the named files are dropped from the page cache: the
binary, or those that --evict names; that they are gone is verified) and warm, unless conditions are
asked for. docs/measure.md tells what each figure means.
"""
EXAMPLES = """\
# one program, from cold and warm
frontload measure -- ./app --version
# two builds of it, and what one costs more than the other
frontload measure --variant old=./app.old --variant new=./app.new -- {} --version
# the same as if they lay on a hard disk; needs root
sudo frontload measure --device hdd --variant old=./app.old --variant new=./app.new -- {}
"""
EXIT_STATUS = {"1": "the command has failed, or outputs differ (--compare-output)", "65": None}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "measure", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("--variant", metavar="NAME=BINARY", action="append", default=[],
                        type=named("NAME=BINARY"), help="a binary to measure in the place of {} in "
                        "COMMAND; the first one is what the others are compared with")
    parser.add_argument("--name", help="what to call the command if there are no variants")
    parser.add_argument("--runs", metavar="N", type=count(1),
                        help="rounds for each condition (default 50)")
    parser.add_argument("--warmup", metavar="N", type=count(0), default=1,
                        help="runs of each variant beforehand, so that the libraries and inputs "
                        "they share are warm (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order within rounds")
    group = parser.add_argument_group("conditions (any of them; default: selectively cold, then "
                                      "warm)")
    conditions.add_any(group)
    conditions.add_eviction(group)
    device_options.add(parser)
    parser.add_argument("--ignore-failure", action="store_true",
                        help="measure also if the command fails")
    parser.add_argument("--compare-output", metavar="FILE", action=ComparedOutput,
                        type=compared_output, default=[],
                        help="exit 1 unless all runs wrote the same to FILE (which is removed "
                        "before each run), or with - to stdout; may be repeated")
    parser.add_argument("--sections", action="store_true",
                        help="also show what was read from each section")
    add_json(parser, "every run as JSON")
    parser.add_argument("command", metavar="COMMAND", nargs="+",
                        help="the command and its arguments, after --")
    parser.set_defaults(usage_error=parser.error)
    return parser


def run(args: argparse.Namespace) -> int:
    device = device_options.chosen(args)
    with processes.unwinding_on_signals():
        return _measure(args, device)


def _measure(args: argparse.Namespace, device: Device | None) -> int:
    # Imported here because numpy and scipy take most of a second, which other verbs need not pay.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from frontload.measure import document, doubts, rounds, seen, table
    from frontload.measure.launcher import Launcher
    from frontload.measure.on_device import on_device

    asked = args.conditions or (SELECTIVELY_COLD, WARM)
    plan = Plan(make_variants(args.command, args.variant, args.evict, args.name),
                conditions=tuple(condition for condition in ORDER if condition in asked),
                runs=args.runs or RUNS, warmup=args.warmup, seed=args.seed,
                evict_seen=args.evict_seen,
                allow_warm=args.allow_warm, ignore_failure=args.ignore_failure,
                compare=tuple(dict.fromkeys(args.compare_output)))
    with ExitStack() as stack:
        launcher, described = Launcher(end_with_us=True), None
        if device:
            launcher, described = stack.enter_context(
                on_device(device, plan.variants, args.extra))
        plan, missing = seen.look(plan, launcher)
        with Progress(TextColumn("{task.description}", markup=False), BarColumn(),
                      MofNCompleteColumn(), console=Console(stderr=True), transient=True,
                      disable=errors.is_quiet() or not sys.stderr.isatty()) as bar:
            task = bar.add_task("", total=count_runs(plan))
            result = rounds.measure(plan, launcher, progress=lambda doing: bar.update(
                task, advance=1, description=doing))
        result = replace(result, device=described, missing=result.missing + missing)
        made = document.to_json(result) if args.json else None

    for text in doubts.warnings(result):
        errors.warning(text)
    if args.json:
        write_output(args.json, document.dump(made))
    if args.json != STDOUT:
        table.print_report(result, sections=args.sections)
    return EXIT_VERDICT if result.differing_outputs() else EXIT_OK
