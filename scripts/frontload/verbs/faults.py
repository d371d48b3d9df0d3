"""frontload faults: one start of a command, fault by fault."""

import argparse
from contextlib import ExitStack

from frontload.base import errors
from frontload.base.errors import EXIT_OK, EXIT_VERDICT
from frontload.base.files import STDOUT, write_output
from frontload.cli.arguments import add_json, count
from frontload.device.kinds import Device
from frontload.verbs import measure

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
    _add_conditions(parser)
    measure.add_device(parser)
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


def _add_conditions(parser: argparse.ArgumentParser) -> None:
    condition = parser.add_mutually_exclusive_group()
    condition.add_argument("--cold", dest="condition", action="store_const", const="cold",
                           help="drop everything from the page cache, of all programs on this "
                           "machine; needs root")
    condition.add_argument("--selectively-cold", dest="condition", action="store_const",
                           const="selectively cold", help="evict only the program, or the files "
                           "that --evict names (the default)")
    condition.add_argument("--warm", dest="condition", action="store_const", const="warm",
                           help="read these files into the page cache instead")
    condition.add_argument("--as-it-is", dest="condition", action="store_const",
                           const="as it is", help="leave the page cache as it is")
    parser.set_defaults(condition="selectively cold")
    parser.add_argument("--evict", metavar="FILE", action="append", default=[],
                        help="a file to evict and to observe instead of the program, which is {} "
                        "here; may be repeated")
    parser.add_argument("--evict-seen", action="store_true",
                        help="evict also all files that the command is seen to read (strace tells "
                        "which), as far as no other process holds them")
    parser.add_argument("--allow-warm", action="store_true",
                        help="record also if pages stay in the cache; the result says so")


def run(args: argparse.Namespace) -> int:
    from frontload.base import processes

    device = measure.chosen_device(args)
    with processes.unwinding_on_signals():
        return _record(args, device)


def _record(args: argparse.Namespace, device: Device | None) -> int:
    # Imported here because numpy takes a while, which other verbs need not pay.
    from frontload.faults import document, start, table
    from frontload.measure.on_device import on_device
    from frontload.measure.rounds import Variant

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
