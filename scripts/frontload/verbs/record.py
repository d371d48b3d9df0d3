"""frontload record: runs a command and records what it touches while it starts."""

import argparse

from frontload.base import errors, processes
from frontload.base.ready import Ready
from frontload.cli import ready_options
from frontload.cli.arguments import command, file_only, program_argument, role
from frontload.cli.parser import Parser

DESCRIPTION = """\
Run a command and record the first touches of each of its processes, one trace per process. record
exits with the status of the command.
"""
EXAMPLES = """\
# record which functions a program enters, and in which order
frontload record -o traces -- ./app --version
# record the data that it touches as well, which is much slower
frontload record --data -o traces -- ./app --version
# record a server until it answers its first request, and end it
frontload record --until-listening 6379 --request 'redis-cli ping' -- redis-server
# record what it reads of all its files
frontload record --all-files -o lists -- ./app --version
# record one kind of process of a program that has several
frontload record --role renderer -o traces -- ./app --type=renderer
# record a server until it enters a function
frontload record --until serve_requests --timeout 60 -o traces-of-server -- ./server
# record the program in all processes of its test suite
frontload record --program app -o traces-of-suite -- make check
"""
EXIT_STATUS = {"0": None, "65": None,
               "1": "the command's own status, or, instead of 0, no trace was written",
               "2": "the command's own status, or the command line is wrong",
               "125": "the recorder failed; it prints why", "126": "the command cannot be executed",
               "127": "the command was not found", "128+N": "signal N ended the command"}
ENVIRONMENT = {"FRONTLOAD_TRACE": "where libfrontload-rt writes traces (%m is the program, %p the "
                                  "process); --with runtime sets it for the command",
               "FRONTLOAD_ROLE": "the role of the command, or of what it starts, in the traces; "
                                 "--role sets it for the command",
               "PATH": "where --data finds valgrind"}


def make_parser() -> Parser:
    parser = Parser(
        "frontload record",
        usage="%(prog)s [OPTION]... -- COMMAND...",
        description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS,
        environment=ENVIRONMENT)
    parser.add_argument("-o", "--output", metavar="DIR", type=file_only,
                        default="frontload-traces",
                        help="the folder for the traces, made if it does not exist (default "
                        "%(default)s)")
    parser.add_argument("--data", action="store_true",
                        help="also record the data that is touched, and code in steps of 4 bytes, "
                        "by running the command in valgrind. This works for any program, and slows "
                        "it down 36 to 355 times")
    parser.add_argument("--blocks", action="store_true",
                        help="also record basic blocks, of code that clang has compiled with "
                        "-fbasic-block-address-map; --data does so anyway")
    parser.add_argument("--all-files", action="store_true",
                        help="instead, record which pages of all files the command and what it "
                        "starts read, as a list for `frontload-run --files`; it needs /dev/fuse "
                        "and, without root, user namespaces")
    parser.add_argument("--with", dest="recorder", choices=("trace", "runtime"), default="trace",
                        help="what records: trace (the default) plants breakpoints in any program; "
                        "with runtime the program records itself, if it was built with "
                        "-finstrument-functions and libfrontload-rt")
    parser.add_argument("--module", metavar="NAME", action="append", default=[],
                        help="with trace or --data: also record this shared library; may be "
                        "repeated")
    parser.add_argument("--program", metavar="PROGRAM", type=program_argument,
                        help="with trace: record only processes of this program, by its name or "
                        "path, whatever else the command runs")
    parser.add_argument("--role", metavar="NAME", type=role,
                        help="what the traces call the process, for `frontload profile --role`, "
                        "and those that it starts with no other FRONTLOAD_ROLE in their "
                        "environment")
    ready_options.add_until(parser, ready_options.KEEPS_RUNNING)
    ready_options.add(parser)
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="the command and its arguments, after --")
    return parser


def run(args: argparse.Namespace) -> int:
    from frontload.recording import run as recording

    words = command(args)
    if args.data and args.recorder == "runtime":
        args.usage_error("--data runs the command in valgrind; what a program with the runtime "
                         "records is decided when it is compiled")
    if args.blocks and (args.recorder == "runtime" or args.all_files):
        args.usage_error("--blocks is for the recorders that see code: it goes without --all-files "
                         "and --with runtime")
    if args.recorder == "runtime" and (args.module or args.until):
        args.usage_error("--module and --until are for --with trace; a program with the runtime "
                         "ends its startup itself, by frontload_startup_done()")
    if args.program and (args.data or args.recorder == "runtime" or args.all_files):
        args.usage_error("--program is for --with trace; the other recorders record each program "
                         "that the command runs")
    ready = ready_options.chosen(args, until=args.until)
    if args.all_files:
        if args.data or args.recorder == "runtime" or args.module or args.until or args.role:
            args.usage_error("--all-files records files and no functions: it goes without --data, "
                             "--with runtime, --module, --role and --until")
        return _record_files(words, args.output, ready)
    messages = errors.Diagnostics(at_once=True)
    if args.recorder == "runtime":
        return recording.run_with_runtime(words, args.output, messages, role=args.role,
                                          ready=ready)
    return recording.run(words, args.output, messages, data=args.data, blocks=args.blocks,
                         modules=args.module, program=args.program, until=args.until,
                         role=args.role, ready=ready)


def _record_files(words: list[str], output: str, ready: Ready | None) -> int:
    from frontload.reading import record

    if not record.may_mount():
        record.enter_namespace()
    with processes.unwinding_on_signals():
        found, sample = record.record(words, ready)
    path = record.write(found, words[0], output)
    errors.note(f"{path}: {errors.count(len(found.in_order()), 'file')}, "
                f"{found.size() / 1e6:.1f} MB")
    if sample.failed:
        errors.warning(sample.failure_of(words[0]))
    return sample.status
