"""frontload measure: cold and warm starts of a command, or of several variants of a program."""

import argparse
import re
import sys
from contextlib import ExitStack
from dataclasses import replace

from frontload.base import errors
from frontload.base.errors import EXIT_OK, EXIT_VERDICT
from frontload.base.files import STDOUT, write_output
from frontload.cli.arguments import ComparedOutput, add_json, compared_output, count, named
from frontload.cli.parser import alias
from frontload.device import kinds as devices

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
# A request must not take longer than a tenth of a second: it would be missed (see
# pagecache/residency.py).
_LEAST_IOPS = 10
_LEAST_BANDWIDTH = 10_000_000


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
    _add_conditions(parser)
    add_device(parser)
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


def _add_conditions(parser: argparse.ArgumentParser) -> None:
    conditions = parser.add_argument_group("conditions (any of them; default: selectively cold, "
                                           "then warm)")
    conditions.add_argument("--cold", dest="conditions", action="append_const", const="cold",
                            help="everything is dropped from the page cache, of all programs on "
                            "this machine; needs root")
    conditions.add_argument("--selectively-cold", dest="conditions", action="append_const",
                            const="selectively cold", help="only the named files are dropped")
    conditions.add_argument("--warm", dest="conditions", action="append_const", const="warm",
                            help="all pages of the named files are in the page cache")
    conditions.add_argument("--evict", metavar="FILE", action="append", default=[],
                            help="a file to name instead of the measured binary, which is {} here "
                            "too; may be repeated")
    conditions.add_argument("--evict-seen", action="store_true",
                            help="when selectively cold, drop also all files that a run is seen to "
                            "read (strace tells which), as far as no other process holds them")
    conditions.add_argument("--allow-warm", action="store_true",
                            help="measure also if pages stay in the cache; the result says so")


def add_device(parser: argparse.ArgumentParser) -> None:
    device = parser.add_argument_group("a device of its own (needs root)")
    device.add_argument("--device", choices=(*devices.KINDS, devices.CUSTOM),
                        help="copy the named files to a loop device that the kernel slows down to "
                        "this kind of device, and measure there; custom: to what the options say")
    device.add_argument("--device-iops", metavar="N", type=count(_LEAST_IOPS),
                        help="of a custom device: requests per second")
    device.add_argument("--device-bandwidth", metavar="N[k|M|G]", type=_bandwidth,
                        help="of a custom device: bytes per second")
    device.add_argument("--read-ahead", metavar="KIB", type=count(0),
                        help="of any kind of device (default: what it has)")
    beside = device.add_argument(
        "--beside", dest="extra", metavar="FILE", action="append", default=[],
        help="another file or folder that the program needs beside it; libraries that it finds "
        "relative to itself ($ORIGIN) are copied unasked")
    alias(beside, parser, "--with")


def _bandwidth(text: str) -> int:
    match = re.fullmatch(r"(\d{1,15})([kMG]?)", text, re.ASCII)
    number = int(match[1]) * 1000 ** " kMG".index(match[2] or " ") if match else 0
    if number < _LEAST_BANDWIDTH:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of bytes from {_LEAST_BANDWIDTH // 1_000_000}M up")
    return number


def chosen_device(args: argparse.Namespace) -> devices.Device | None:
    if args.device is None and (args.read_ahead is not None or args.extra):
        args.usage_error("--read-ahead and --beside are for --device")
    if args.device != devices.CUSTOM and (args.device_iops or args.device_bandwidth):
        args.usage_error("--device-iops and --device-bandwidth are for --device custom")
    if args.device is None:
        return None
    if args.device == devices.CUSTOM:
        from frontload.device.cold_device import READ_AHEAD_KIB

        device = devices.custom(args.device_iops, args.device_bandwidth, READ_AHEAD_KIB)
    else:
        device = devices.find(args.device)
    if args.read_ahead is not None:
        device = replace(device, read_ahead_kib=args.read_ahead)
    return device


def run(args: argparse.Namespace) -> int:
    from frontload.base import processes

    device = chosen_device(args)
    with processes.unwinding_on_signals():
        return _measure(args, device)


def _measure(args: argparse.Namespace, device: devices.Device | None) -> int:
    # Imported here because numpy and scipy take most of a second, which other verbs need not pay.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from frontload.measure import (
        results as measure_report,
    )
    from frontload.measure import (
        seen as measure_seen,
    )
    from frontload.measure import (
        table as measure_table,
    )
    from frontload.measure.conditions import ORDER
    from frontload.measure.launcher import Launcher
    from frontload.measure.on_device import on_device
    from frontload.measure.rounds import (
        RUNS,
        SELECTIVELY_COLD,
        WARM,
        Plan,
        count_runs,
        make_variants,
        measure,
    )

    conditions = args.conditions or (SELECTIVELY_COLD, WARM)
    plan = Plan(make_variants(args.command, args.variant, args.evict, args.name),
                conditions=tuple(condition for condition in ORDER if condition in conditions),
                runs=args.runs or RUNS, warmup=args.warmup, seed=args.seed,
                evict_seen=args.evict_seen,
                allow_warm=args.allow_warm, ignore_failure=args.ignore_failure,
                compare=tuple(dict.fromkeys(args.compare_output)))
    with ExitStack() as stack:
        launcher, described = Launcher(end_with_us=True), None
        if device:
            launcher, described = stack.enter_context(
                on_device(device, plan.variants, args.extra))
        plan, missing = measure_seen.look(plan, launcher)
        with Progress(TextColumn("{task.description}", markup=False), BarColumn(),
                      MofNCompleteColumn(), console=Console(stderr=True), transient=True,
                      disable=errors.is_quiet() or not sys.stderr.isatty()) as bar:
            task = bar.add_task("", total=count_runs(plan))
            result = measure(plan, launcher, progress=lambda doing: bar.update(
                task, advance=1, description=doing))
        result = replace(result, device=described, missing=result.missing + missing)
        document = measure_report.to_json(result) if args.json else None

    for text in measure_report.warnings(result):
        errors.warning(text)
    if args.json:
        write_output(args.json, measure_report.dump(document))
    if args.json != STDOUT:
        measure_table.print_report(result, sections=args.sections)
    return EXIT_VERDICT if result.differing_outputs() else EXIT_OK
