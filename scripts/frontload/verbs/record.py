"""frontload record: runs a command and records what it touches while it starts."""

import argparse
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from frontload.base import errors, processes, tools
from frontload.base.errors import EXIT_VERDICT, Failure
from frontload.profile import trace

DESCRIPTION = """\
Run a command and record the first touches of each of its processes, in one trace per process. The
exit status is the command's own.
"""
EXAMPLES = """\
# which functions a program enters, in which order
frontload record -o traces -- ./app --version
# once more, slowly, with the data that it touches
frontload record --data -o traces -- ./app --version
# a server: its startup ends when it is ready
frontload record --until serve_requests -o traces-of-server -- ./server
"""
EXIT_STATUS = {"0": None, "65": None,
               "1": "the command's own, or in place of 0: no trace was written",
               "2": "the command's own, or: the command line is wrong",
               "125": "the recorder failed, and says why", "126": "the command cannot be executed",
               "127": "the command is not found", "128+N": "signal N has ended the command"}
ENVIRONMENT = {"FRONTLOAD_TRACE": "set for the command by --with runtime: where libfrontload-rt "
                                  "writes traces (%m: the program, %p: the process)",
               "TMPDIR": "where --data puts a copy of a program that has debug info"}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "record", help="run a command and record what it touches",
        usage="%(prog)s [-o DIR] [--data | --with trace|runtime] [--module NAME]... "
              "[--until SYMBOL] [--for SECONDS] -- COMMAND...",
        description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS,
        environment=ENVIRONMENT)
    parser.add_argument("-o", "--output", metavar="DIR", default="frontload-traces",
                        help="the folder for the traces, made if need be (default %(default)s)")
    parser.add_argument("--data", action="store_true",
                        help="record the data that is touched too, and code by the 16 bytes, by "
                        "running the command in valgrind: any program, some hundred times slower. "
                        "Programs that the command starts run unrecorded")
    parser.add_argument("--with", dest="recorder", choices=("trace", "runtime"), default="trace",
                        help="trace (the default): by breakpoints, any program. runtime: by the "
                        "program itself, built with -finstrument-functions and libfrontload-rt")
    parser.add_argument("--module", metavar="NAME", action="append", default=[],
                        help="with trace or --data: record this shared library too; may be "
                        "repeated")
    parser.add_argument("--until", metavar="SYMBOL",
                        help="with trace: startup ends when this function is entered")
    parser.add_argument("--for", dest="seconds", metavar="SECONDS", type=seconds,
                        help="with trace: startup ends after this time")
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="the command and its arguments, after --")
    parser.set_defaults(usage_error=parser.error)
    return parser


def seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def run(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        args.usage_error("a COMMAND is needed, after --")
    if args.data and args.recorder == "runtime":
        args.usage_error("--data runs the command in valgrind; what a program with the runtime "
                         "records is decided when it is compiled")
    if args.data and (args.until or args.seconds):
        args.usage_error("--until and --for are for --with trace; a recording with --data ends "
                         "when the command does")
    if args.recorder == "runtime" and (args.module or args.until or args.seconds):
        args.usage_error("--module, --until and --for are for --with trace; a program with the "
                         "runtime ends its startup itself, by frontload_startup_done()")
    folder = Path(args.output)
    pattern = pattern_in(folder)
    # What the frontload command itself was told is none of the recorded program's business.
    environment = {name: value for name, value in os.environ.items() if name != "FRONTLOAD_BINDIR"}
    if args.recorder == "runtime":
        environment["FRONTLOAD_TRACE"] = pattern
    else:
        command = tracer(pattern, data=args.data, modules=args.module, until=args.until,
                         seconds=args.seconds) + command
    is_new_folder = not folder.exists()
    _prepare(folder)
    before = _traces(folder)
    status = processes.run_in_foreground(command, environment)
    written = [path for path, identity in _traces(folder).items() if before.get(path) != identity]
    touches = 0
    for path in written:
        try:
            touches += len(trace.read(path).kinds)
        except Failure as problem:
            errors.warning(str(problem))
    if written:
        errors.note(f"{errors.count(len(written), 'trace')} with "
                    f"{errors.count(touches, 'first touch', 'first touches')} in {args.output}")
        return status
    errors.error(f"{args.output}: no trace was written")
    if args.recorder == "runtime":
        errors.note("build the program with -finstrument-functions and link libfrontload-rt")
    if is_new_folder:
        with suppress(OSError):
            folder.rmdir()
    return status or EXIT_VERDICT


def pattern_in(folder: Path) -> str:
    """What recorders are told to name the traces in a folder."""
    # The command may change its folder; and % means something in the pattern.
    return os.path.join(str(folder.resolve()).replace("%", "%%"), "%m.%p" + trace.SUFFIX)


def _prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Failure(f"{folder}: no permission to write there", note="choose another with -o")


def tracer(pattern: str, *, data: bool = False, modules: Sequence[str] = (),
           until: str | None = None, seconds: float | None = None) -> list[str]:
    """What runs a command and records it: goes before the command."""
    options = [f"--module={name}" for name in modules]
    if until:
        options.append(f"--until={until}")
    if seconds:
        options.append(f"--for={seconds:g}")
    recorder = "frontload-lackey" if data else "frontload-trace"
    return [str(tools.tool(recorder)), f"--output={pattern}", *options, "--"]


def _traces(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """The traces in a folder, with what tells a new one from one that was there before."""
    found = {}
    for path in trace.find(folder):
        status = path.stat()
        found[path] = status.st_ino, status.st_size, status.st_mtime_ns
    return found
