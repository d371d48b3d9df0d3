"""frontload faults: one start of a command, fault by fault."""

import argparse
from contextlib import ExitStack

from frontload.base import errors, processes
from frontload.base.errors import EXIT_OK, EXIT_VERDICT
from frontload.base.files import STDOUT, write_output
from frontload.cli import conditions, device_options
from frontload.cli.arguments import add_json, count
from frontload.device.kinds import Device

DESCRIPTION = """\
Run a command once and record with perf every page fault of its processes, what comes into the page
cache, what is asked of the devices, and the phases of its start: when, in which file and where.
The program (or each --evict FILE) is evicted before, and that is verified.

The tables are for reading; `frontload report` makes pictures of the JSON.
"""
EXAMPLES = """\
# where a start from cold reads
frontload faults -- ./app --version
# the same up to the first call of the function ready, for frontload report
frontload faults --until ready --json app.faults.json -- ./app
"""
EXIT_STATUS = {"1": "the command has failed"}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "faults", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("--name", help="what to call the command (default: its file's name)")
    parser.add_argument("--until", metavar="SYMBOL", help="the function of the program with whose "
                        "first call the start has ended (default: frontload_startup_done)")
    group = parser.add_argument_group("conditions (default: selectively cold)")
    conditions.add_one(group)
    conditions.add_eviction(group)
    device_options.add(parser)
    parser.set_defaults(usage_error=parser.error)
    parser.add_argument("--warmup", metavar="N", type=count(0), default=1,
                        help="runs beforehand, so that the libraries and inputs are warm (default "
                        "%(default)s)")
    parser.add_argument("--ignore-failure", action="store_true",
                        help="exit 0 also if the command fails")
    parser.add_argument("--first", metavar="N", type=count(0), default=20,
                        help="show so many faults (default %(default)s)")
    parser.add_argument("--all", action="store_true", help="show all faults, one by one")
    add_json(parser)
    parser.add_argument("command", metavar="COMMAND", nargs="+",
                        help="the command and its arguments, after --")
    return parser


def run(args: argparse.Namespace) -> int:
    device = device_options.chosen(args)
    with processes.unwinding_on_signals():
        return _record(args, device)


def _record(args: argparse.Namespace, device: Device | None) -> int:
    # Imported here because numpy takes a while, which other verbs need not pay.
    from frontload.faults import document, start, table
    from frontload.measure.on_device import on_device
    from frontload.measure.plan import Variant

    with ExitStack() as stack:
        launcher, described = None, None
        if device:
            named = tuple(start.files(args.command, args.evict))
            launcher, described = stack.enter_context(
                on_device(device, [Variant("", tuple(args.command), named)], args.extra))
        started = start.record(
            args.command, args.name, condition=args.condition, evict=args.evict,
            evict_seen=args.evict_seen, allow_warm=args.allow_warm, until=args.until,
            warmup=args.warmup, launcher=launcher)
    made, sample = started.document | {"device": described}, started.sample
    if args.json:
        write_output(args.json, document.dump(made))
    if args.json != STDOUT:
        table.show(made, None if args.all else args.first)
    if sample.failed and not args.ignore_failure:
        errors.error(sample.failure_of(args.command[0]))
        return EXIT_VERDICT
    return EXIT_OK
