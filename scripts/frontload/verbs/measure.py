"""frontload measure: cold and warm starts of a command, or of several variants of a program."""

import argparse
import os
from dataclasses import replace

from frontload.base import console, errors, files, packages, processes
from frontload.base.errors import EXIT_OK, EXIT_VERDICT
from frontload.cli import conditions, device_options, ready_options
from frontload.cli.arguments import add_json, count, named
from frontload.cli.parser import Parser
from frontload.measure.conditions import ORDER, SELECTIVELY_COLD, WARM
from frontload.measure.plan import RUNS, STDOUT, Plan, count_runs, make_variants

DESCRIPTION = """\
Measure how a command starts: page faults, what it reads from its files, memory and time.

To compare variants of a program, name each binary, and write {} in the command where it belongs.
measure interleaves the rounds of all variants, and compares times within rounds.

Selectively cold means that only the named files are evicted from the page cache, which is verified:
the binary, or the files that --evict names. docs/measure.md explains each figure.
"""
EXAMPLES = """\
# measure one program, cold and warm
frontload measure -- ./app --version
# compare two builds of it
frontload measure --variant old=./app.old --variant new=./app.new -- {} --version
# a server, until it answers its first request
frontload measure --until-listening 6379 --request 'redis-cli ping' -- redis-server
# compare them as if they were on a hard disk, which needs root
sudo frontload measure --device hdd --variant old=./app.old --variant new=./app.new -- {}
"""
EXIT_STATUS = {"1": "the command failed, or outputs differ (--compare-output)", "65": None}


def make_parser() -> Parser:
    parser = Parser(
        "frontload measure", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("--variant", metavar="NAME=BINARY", action="append", default=[],
                        type=named("NAME=BINARY"), help="a binary that takes the place of {} in "
                        "COMMAND; may be repeated: the others are compared with the first")
    parser.add_argument("--name", help="the name of the command, if there are no variants")
    parser.add_argument("--runs", metavar="N", type=count(1),
                        help="measured rounds in each condition (default 50)")
    parser.add_argument("--warmup", metavar="N", type=count(0), default=1,
                        help="runs of each variant before the first round, so that the libraries "
                        "and inputs that they share are warm (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the seed for the order within rounds "
                        "(default %(default)s)")
    group = parser.add_argument_group("conditions (any of them; default: selectively cold, then "
                                      "warm)")
    conditions.add_any(group)
    conditions.add_eviction(group)
    device_options.add(parser)
    ready_options.add_until(parser, ready_options.IS_ENDED)
    ready_options.add(parser)
    parser.add_argument("--ignore-failure", action="store_true",
                        help="measure even if the command fails")
    parser.add_argument("--compare-output", metavar="FILE", action="append", default=[],
                        type=_compared,
                        help="exit 1 unless all runs write the same to FILE, which is removed "
                        "before each run, or with - to stdout; may be repeated")
    add_json(parser, "every run as JSON")
    parser.add_argument("command", metavar="COMMAND", nargs="+",
                        help="the command and its arguments, after --")
    return parser


def _compared(text: str) -> str:
    """An output that a command writes. It is removed before each run, so a program is refused: it
    was meant as the COMMAND."""
    if os.path.isfile(text) and os.access(text, os.X_OK):
        raise argparse.ArgumentTypeError(f"{text!r} is a program, and FILE is removed before each "
                                         "run; --compare-output - compares stdout")
    return STDOUT if text == files.STDOUT else text


@processes.unwinding_on_signals()
def run(args: argparse.Namespace) -> int:
    device = device_options.chosen(args)
    ready = ready_options.chosen(args, function=args.until)
    packages.require("measure")
    from frontload.measure import document, doubts, rounds, seen, table
    from frontload.measure.on_device import on_device

    asked = args.conditions or (SELECTIVELY_COLD, WARM)
    plan = Plan(make_variants(args.command, args.variant, args.evict, args.name),
                conditions=tuple(condition for condition in ORDER if condition in asked),
                runs=args.runs or RUNS, warmup=args.warmup, seed=args.seed,
                evict_seen=args.evict_seen,
                allow_warm=args.allow_warm, ignore_failure=args.ignore_failure,
                compare=tuple(dict.fromkeys(args.compare_output)), ready=ready)
    with console.steps(transient=True) as begin:
        progress = begin and begin("preparing the files", count_runs(plan))
        with on_device(device, plan.variants, args.extra, ready) as (launcher, described):
            plan, missing = seen.look(plan, launcher)
            result = rounds.measure(plan, launcher, progress=progress,
                                    diagnostics=errors.Diagnostics(at_once=True))
            result = replace(result, device=described, missing=result.missing + missing)
            made = document.to_json(result) if args.json else None

    for text in doubts.warnings(result):
        errors.warning(text)
    if made is not None:
        files.write_json(args.json, made)
    if args.json != files.STDOUT:
        table.print_report(result)
    return EXIT_VERDICT if result.differing_outputs() else EXIT_OK
