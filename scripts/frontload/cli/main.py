"""The command line of `frontload`: its verbs, and what they have in common.

A verb is a module of verbs/ with `make_parser()` and `run(args)`. A verb is loaded when it is
called, because most use libraries that take longer to load than printing the version takes.
"""

import argparse
import errno
import gc
import importlib
import os
import re
import sys
import traceback

from frontload import __version__
from frontload.base import errors, packages, standard_streams, tools
from frontload.cli import loudness
from frontload.cli.parser import Parser, add_loudness
from frontload.machine import linkers

# Each verb, and its summary.
EVERYDAY_VERBS = {
    "info": "show what this machine allows, and what is in traces, profiles and lists",
    "auto": "try a front: all steps for one program",
    "init": "show or write what to add to a build",
    "record": "run a command and record what it touches",
    "profile": "make a startup profile from traces",
    "check": "show how much of a profile lies in the front of a program",
    "measure": "measure cold and warm starts, and compare binaries",
    "order": "make an order file for a linker",
}
# Verbs that fewer people need.
OTHER_VERBS = {
    "import": "make a startup profile from other tools' files",
    "finish": "write what a start needs into a program of any linker",
    "files": "merge lists of what starts read of all their files",
    "image": "pack a folder into a compressed image that starts quickly",
    "predict": "predict cold starts on other storage devices",
    "faults": "record every page fault of one start",
    "report": "make a page that shows what starts read and what could improve",
}
VERBS = EVERYDAY_VERBS | OTHER_VERBS
DESCRIPTION = "Make big native programs start in one sequential read."
EXAMPLES = """\
# start here: see what this machine allows
frontload info
# try all steps at once, on a program that you built here
frontload auto -- build/app --its arguments
# or go step by step: record a startup, and write it down as a text file to check in
frontload record -o traces -- ./app --its arguments
frontload profile traces -o app.startup
# link the program again with that profile, and see whether it was worth it
clang++ *.o --ld-path="$(which ld.frontload)" -Wl,--startup-profile=app.startup -o app.front
frontload check app.front --profile app.startup
frontload measure --variant before=./app --variant after=./app.front -- {} --its arguments
"""
# Shown without a verb: what to type next.
_FIRST_STEPS = """\
usage: frontload VERB ...

Frontload makes big native programs start in one sequential read. What to type next:
  frontload info                               what this machine allows
  frontload auto -- build/app --its arguments  try it on a program that you built: this changes
                                               nothing, and ends with a verdict
  frontload init build                         if that is worth it: the lines to add to the build
  frontload-run --learn -- app --its arguments a program of others: each start learns for the next
  frontload --help                             all verbs; frontload VERB --help has the rest"""
EXIT_STATUS = {
    "0": "success; record exits with the status of its command, whatever it is",
    "1": "the work was done and the answer is no: a profile is stale, outputs differ, a measured "
         "command failed",
    str(errors.EXIT_SOFTWARE): "Frontload itself failed: this is a defect, please report it",
    "128+N": "signal N ended the command: 130 after Ctrl-C"}
ENVIRONMENT = {
    "FRONTLOAD_PYTHON": "the Python that runs this command, instead of the one that the build "
                        "used: 3.10 or newer, with pyelftools; for measure also numpy and scipy, "
                        "for report pydantic, too",
    "FRONTLOAD_TRACE": "where a program linked with libfrontload-rt writes its traces; if it is "
                       "not set, the program records nothing",
    "FRONTLOAD_ROLE": "the role of a process, which its trace has; --role sets it",
    "FRONTLOAD, FRONTLOAD_PROFILE, ...": "what frontload-cc does in builds; see its --help",
    "FRONTLOAD_DEBUG": "1: show the Python traceback of an unexpected failure (exit status 70)",
    "PATH": "where Frontload looks for linkers, compilers, valgrind, perf and strace",
    "TMPDIR": "where temporary files go (default: /tmp)",
    "COLUMNS, NO_COLOR, TERM": "the width of tables, and whether they have colors"}
# For system errors in any verb.
_ELSEWHERE = "make room there, or choose another place; TMPDIR says where temporary files go"
_REMEDIES = {errno.ENOSPC: _ELSEWHERE, errno.EDQUOT: _ELSEWHERE, errno.EROFS: _ELSEWHERE,
             errno.EACCES: "check its owner and permissions with ls -ld"}


class _Version(argparse.Action):
    """Shows Frontload's version, and that of the LLVM whose lld is in ld.frontload."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        linker = tools.find_tool("ld.frontload")
        said = linkers.version_of(linker) if linker else None
        llvm = re.search(r"LLD (\S+)", said or "")
        print(f"frontload {__version__} (" + (
            f"LLVM {llvm[1] if llvm else said}" if said else
            "without ld.frontload, which was not found") + ")")
        parser.exit()


def command_parser() -> Parser:
    """The parser of the command line before a verb."""
    command = Parser(
        prog="frontload", usage="%(prog)s [-h] [--version] VERB ...", description=DESCRIPTION,
        examples=EXAMPLES, exit_status=EXIT_STATUS, environment=ENVIRONMENT,
        lists={"verbs": EVERYDAY_VERBS, "other verbs": OTHER_VERBS})
    command.add_argument("--version", action=_Version, nargs=0,
                         help="show the version, and that of the LLVM it was built with")
    command.add_argument("verb", choices=tuple(VERBS), help=argparse.SUPPRESS)
    return command


def verb_parser(name: str) -> Parser:
    """The parser of a verb; refuses if this Python lacks packages that all verbs need."""
    packages.require()
    module = importlib.import_module(
        f"frontload.verbs.{'importing' if name == 'import' else name}")
    parser = module.make_parser()
    parser.set_defaults(run=module.run, usage_error=parser.error)
    add_loudness(parser)
    return parser


def _give_up_stdout() -> None:
    """Stops Python from writing the failed output again, with another error, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    standard_streams.reopen_closed()
    # A profile may have a million symbols, in as many tuples without cycles: looking for cycles
    # again and again takes a fifth of the time of a verb.
    gc.set_threshold(1_000_000, 5, 1000)
    if not argv:
        print(_FIRST_STEPS, file=sys.stderr)
        return errors.EXIT_USAGE
    verb = argv[0]
    # A name that the terminal's encoding lacks must not end the command.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a file
    try:
        if verb not in VERBS:
            command_parser().parse_args(argv[:1])  # shows help, the version or an error
        args = verb_parser(verb).parse_args(argv[1:])
        loudness.choose(quiet=args.quiet, verbose=args.verbose)
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
        thing = problem.filename if problem.filename is not None else verb
        errors.error(f"{os.fsdecode(thing)}: {problem.strerror or problem}")
        if problem.errno in _REMEDIES:
            errors.note(_REMEDIES[problem.errno])
        return errors.EXIT_USAGE
    except errors.Interrupted as interrupted:
        errors.error(f"{verb}: {interrupted}: ended, and cleaned up")
        return interrupted.exit_status
    except KeyboardInterrupt:
        return 128 + 2
    except Exception as defect:
        return _say_defect(verb, defect)
    finally:
        loudness.choose(quiet=False, verbose=False)


def _say_defect(verb: str, defect: Exception) -> int:
    """An unexpected exception is a defect of ours, and must not look like a verdict (1)."""
    if os.environ.get("FRONTLOAD_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(defect)
    said = " ".join(str(defect).split())
    errors.error(f"{verb}: {type(defect).__name__}" + (f": {said}" if said else ""))
    errors.note("this is a defect in Frontload: set FRONTLOAD_DEBUG=1 for the traceback, and "
                "report it")
    return errors.EXIT_SOFTWARE
