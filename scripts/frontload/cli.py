"""The command line of `frontload`: one module per verb in verbs/, each with add_parser and run."""

import argparse
import os
import sys

from frontload import __version__, errors
from frontload.verbs import (
    auto,
    check,
    faults,
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
         report, run)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="frontload",
        description="Make big native programs start in one sequential read.",
        epilog="Start with: frontload info")
    parser.add_argument("--version", action="version", version=f"frontload {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_parser(verbs).set_defaults(run=verb.run)
    return parser


def _give_up_stdout() -> None:
    """What could not be written must not be tried again, and complained of, when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
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
        return errors.EXIT_USAGE
    except errors.Interrupted as interrupted:
        errors.error(f"{args.verb}: {interrupted}: ended, and cleaned up")
        return interrupted.exit_status
    except KeyboardInterrupt:
        return 128 + 2
