"""frontload faults: one start of a command, fault by fault."""

import argparse

from frontload.base import errors, processes
from frontload.base.errors import EXIT_OK, EXIT_VERDICT
from frontload.base.files import STDOUT, write_output
from frontload.cli import conditions, device_options, ready_options
from frontload.cli.arguments import add_json, count
from frontload.cli.parser import Parser

DESCRIPTION = """\
Run a command once and record with perf every page fault of its processes, what enters the page
cache, what the devices are asked for, and the phases of the start: when, in which file and where.
Before the run, the program (or each --evict FILE) is evicted, which is verified.

The tables are for reading; `frontload report` makes pictures from the JSON.
"""
EXAMPLES = """\
# see where a cold start reads
frontload faults -- ./app --version
# record it up to the first call of the function serve_requests, for frontload report
frontload faults --until serve_requests --json app.faults.json -- ./app
# record a server until it answers its first request, and end it
frontload faults --until-listening 6379 --request 'redis-cli ping' -- redis-server
"""
EXIT_STATUS = {"1": "the command failed"}


def make_parser() -> Parser:
    parser = Parser(
        "frontload faults", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("--name", help="the name of the command (default: that of its file)")
    ready_options.add_until(parser, ready_options.KEEPS_RUNNING)
    group = parser.add_argument_group("conditions (default: selectively cold)")
    conditions.add_one(group)
    conditions.add_eviction(group)
    device_options.add(parser)
    ready_options.add(parser)
    parser.add_argument("--warmup", metavar="N", type=count(0), default=1,
                        help="runs before the recorded one, so that the libraries and inputs are "
                        "warm (default %(default)s)")
    parser.add_argument("--ignore-failure", action="store_true",
                        help="exit 0 even if the command fails")
    parser.add_argument("--first", metavar="N", type=count(0), default=20,
                        help="show the first N faults (default %(default)s)")
    parser.add_argument("--all", action="store_true", help="show every fault")
    add_json(parser)
    parser.add_argument("command", metavar="COMMAND", nargs="+",
                        help="the command and its arguments, after --")
    return parser


@processes.unwinding_on_signals()
def run(args: argparse.Namespace) -> int:
    device, ready = device_options.chosen(args), ready_options.of_recording(args)
    from frontload.faults import document, start, table

    with processes.unwinding_on_signals():
        made, sample = start.record(
            args.command, args.name, condition=args.condition, evict=args.evict,
            evict_seen=args.evict_seen, allow_warm=args.allow_warm, until=args.until,
            warmup=args.warmup, ready=ready, device=device, extra=args.extra,
            diagnostics=errors.Diagnostics(at_once=True))
    if args.json:
        write_output(args.json, document.dump(made))
    if args.json != STDOUT:
        table.show(made, None if args.all else args.first)
    if sample.failed and not args.ignore_failure:
        errors.error(sample.failure_of(args.command[0]))
        return EXIT_VERDICT
    return EXIT_OK
