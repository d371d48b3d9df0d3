"""The command line of `frontload`: one module per verb in verbs/, each with add_parser and run."""

import errno
import os
import sys

from frontload.base import errors
from frontload.cli import parser as parsing
from frontload.cli import version
from frontload.cli.parser import Parser
from frontload.verbs import (
    auto,
    cargo,
    check,
    faults,
    help,
    importing,
    info,
    init,
    measure,
    order,
    predict,
    profile,
    record,
    report,
    run,
)

VERBS = (info, init, auto, record, profile, importing, order, check, predict, measure, faults,
         report, run, cargo, help)
DESCRIPTION = "Make big native programs start in one sequential read."
EXAMPLES = """\
# start here: what this machine allows
frontload info
# all steps at once, for a program that was built here
frontload auto -- build/app --its arguments
# or one by one: a program's startup, recorded and written down as a text file to check in
frontload record -o traces -- ./app --its arguments
frontload profile traces -o app.startup
# the program, linked again with that, and whether it was worth it
clang++ *.o --ld-path=$(which ld.frontload) -Wl,--startup-profile=app.startup -o app.front
frontload check app.front --profile app.startup
frontload measure --variant before=./app --variant after=./app.front -- {} --its arguments
# all of a verb
frontload help record
"""
EXIT_STATUS = {
    "0": "done; record and run have the exit status of their command, whatever it is",
    "1": "the work was done, and the answer is no: a profile has rotted, outputs differ, a "
         "measured command has failed",
    "128+N": "signal N has ended the command, as 130 after Ctrl-C"}
ENVIRONMENT = {
    "FRONTLOAD_PYTHON": "the Python that runs this command (3.11 or newer, with pyelftools, numpy, "
                        "scipy, rich and pydantic), in place of the one that the build was given",
    "FRONTLOAD_TRACE": "where a program that was linked with libfrontload-rt writes its traces; "
                       "without it, nothing is recorded",
    "FRONTLOAD, FRONTLOAD_PROFILE, ...": "what frontload-cc does in builds: see its --help",
    "PATH": "where linkers, compilers and tools like valgrind, perf and strace are looked up",
    "TMPDIR": "where temporary files go (default: /tmp)",
    "COLUMNS, NO_COLOR, TERM": "how wide tables are, and whether they have colours"}
# Of what the system says to any verb.
_ELSEWHERE = "make room there, or choose another place; temporary files go to TMPDIR"
_REMEDIES = {errno.ENOSPC: _ELSEWHERE, errno.EDQUOT: _ELSEWHERE, errno.EROFS: _ELSEWHERE,
             errno.EACCES: "see whose it is, and who may read or write it (ls -ld)"}


def build_parser() -> Parser:
    parser = Parser(prog="frontload", description=DESCRIPTION, examples=EXAMPLES,
                    exit_status=EXIT_STATUS, environment=ENVIRONMENT)
    parser.add_argument("--version", action=version.Version, nargs=0,
                        help="show the version, and that of the LLVM it was built with")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", required=True)
    for verb in VERBS:
        added = verb.add_parser(verbs)
        added.set_defaults(run=verb.run)
        for each in parsing.verbs_below(added):
            each.set_defaults(parser=each)
    return parser


def _give_up_stdout() -> None:
    """What could not be written must not be tried again, and complained of, when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    parser = build_parser()
    if not argv:
        parser.print_help(sys.stderr)
        return errors.EXIT_USAGE
    args = parsing.parse(parser, argv)
    # A name that the terminal's encoding lacks must not end the command.
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = args.run(args)
        sys.stdout.flush()
        return status
    except errors.Failure as failure:
        errors.error(failure.message)
        if failure.note:
            errors.note(failure.note)
        return failure.code
    except BrokenPipeError:
        # The reader of our output went away (head, less): nothing is wrong.
        _give_up_stdout()
        return errors.EXIT_OK
    except OSError as problem:
        try:
            sys.stdout.flush()
        except OSError:
            _give_up_stdout()
        thing = problem.filename if problem.filename is not None else args.verb
        errors.error(f"{os.fsdecode(thing)}: {problem.strerror or problem}")
        if problem.errno in _REMEDIES:
            errors.note(_REMEDIES[problem.errno])
        return errors.EXIT_USAGE
    except errors.Interrupted as interrupted:
        errors.error(f"{args.verb}: {interrupted}: ended, and cleaned up")
        return interrupted.exit_status
    except KeyboardInterrupt:
        return 128 + 2


def cargo_main() -> int:
    """`cargo frontload ...`, for which cargo runs `cargo-frontload frontload ...`."""
    return main(["cargo", *sys.argv[2 if sys.argv[1:2] == ["frontload"] else 1:]])
