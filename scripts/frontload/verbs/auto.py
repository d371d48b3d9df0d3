"""frontload auto: all steps for a program that can be linked again, from one command."""

import argparse
import errno
import os
import shutil
import tempfile

from frontload.base import errors
from frontload.base.errors import EXIT_OK, EXIT_VERDICT, Failure
from frontload.base.files import STDOUT
from frontload.cli.arguments import (
    add_json,
    add_min_match,
    command,
    count,
    file_only,
    percentage,
    seconds,
)
from frontload.device.kinds import Device
from frontload.verbs import measure

DESCRIPTION = """\
Try what a front does for a program: find the command that linked it, link it again, record the
command, make the startup profile, link with it, check, compare what both write, and measure both
from cold. The program itself is left alone; beside it come APP.startup and APP.front.

The link command is sought in this order: --link, a log by frontload-cc --link-log, a folder above
the program that Ninja or CMake's Makefiles built, and a build that --build runs under strace.
docs/auto.md tells what is done in which case.
"""
EXAMPLES = """\
# a program that CMake or Meson built with Ninja, or CMake with make
frontload auto -- build/app --its arguments
# one that make built: the build is watched
frontload auto --build 'make' -- ./app --version
# one whose link is known, functions only
frontload auto --link 'c++ main.o -o app' --no-data -- ./app
# one that a script starts, with more than one way to start it
frontload auto --program build/app --workload '{} --help' -- ./start-it.sh {} --fast
"""
EXIT_STATUS = {"1": "the program cannot be linked again; or it was, and: too few names are in the "
                    "front, it does something else with it, or a cold start reads no less"}
ENVIRONMENT = {"FRONTLOAD_LINK_LOG": "the log of links that is read without --link-log",
               "TMPDIR": "where traces and the map are while it works (default: /tmp)"}
FILES = {"APP.startup": "the startup profile, beside the program: check it in",
         "APP.front": "the program with a front"}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "auto", usage="%(prog)s [OPTION]... -- COMMAND...",
        description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS,
        environment=ENVIRONMENT, files=FILES)
    parser.add_argument("--program", metavar="FILE", help="the program, if COMMAND starts it only "
                        "indirectly; {} in COMMAND is where it belongs")
    parser.add_argument("--workload", metavar="COMMAND", action="append", default=[],
                        help="another command that starts it, as one argument: recorded and "
                        "compared, too; may be repeated")
    _add_link(parser)
    _add_recording(parser)
    result = parser.add_argument_group("what comes out")
    result.add_argument("-o", "--output", metavar="FILE", type=file_only,
                        help="the program with a front (default: APP.front beside it)")
    result.add_argument("--profile", metavar="FILE", type=file_only,
                        help="the startup profile (default: APP.startup beside the program)")
    result.add_argument("--in-place", action="store_true",
                        help="if all is well, put the program with a front in the program's place")
    result.add_argument("--prefetch", action="store_true", help="link with --front-prefetch, too")
    add_min_match(result)
    result.add_argument("--min-coverage", metavar="PERCENT", type=percentage, default=95.0,
                        help="of the profile's names that must be in the front (default 95)")
    result.add_argument("--measured-runs", metavar="N", type=count(1), default=10,
                        help="of each program, cold and warm (default %(default)s)")
    result.add_argument("--no-measure", action="store_true", help="do not measure")
    measure.add_device(parser)
    result.add_argument("--no-compare", action="store_true",
                        help="do not compare what both programs write")
    result.add_argument("--keep", metavar="DIR", help="keep the traces and the map there")
    add_json(result)
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="the command and its arguments, after --")
    parser.set_defaults(usage_error=parser.error)
    return parser


def _add_link(parser: argparse.ArgumentParser) -> None:
    link = parser.add_argument_group("how it was linked")
    link.add_argument("--link", metavar="COMMAND", help="the link command, as one argument")
    link.add_argument("--link-log", metavar="FILE", help="what frontload-cc --link-log wrote "
                      "(default: $FRONTLOAD_LINK_LOG)")
    link.add_argument("--build", metavar="COMMAND",
                      help="the build command, as one argument: it is run under strace, twice if "
                      "the program was up to date")
    link.add_argument("--build-folder", metavar="DIR",
                      help="where --build or --link runs (default: here)")


def _add_recording(parser: argparse.ArgumentParser) -> None:
    recording = parser.add_argument_group("what is recorded")
    recording.add_argument("--runs", metavar="N", type=count(1), default=3,
                           help="of each command (default %(default)s)")
    data = recording.add_mutually_exclusive_group()
    data.add_argument("--data", dest="data", action="store_true", default=None,
                      help="record data as well, in valgrind (default: if valgrind is there)")
    data.add_argument("--no-data", dest="data", action="store_false",
                      help="record functions only")
    recording.add_argument("--module", metavar="NAME", action="append", default=[],
                           help="record this shared library too, and write its profile; may be "
                           "repeated")
    recording.add_argument("--until", metavar="SYMBOL",
                           help="startup ends when this function is entered")
    recording.add_argument("--for", dest="seconds", metavar="SECONDS", type=seconds,
                           help="startup ends after this time")


def run(args: argparse.Namespace) -> int:
    words = command(args)
    if any("{}" in word for word in words) and not args.program:
        args.usage_error("{} in COMMAND needs --program FILE")
    device = measure.chosen_device(args)
    from frontload.base import processes

    with processes.unwinding_on_signals():
        return _run(args, words, device)


def _run(args: argparse.Namespace, words: list[str], device: Device | None) -> int:
    # Imported here because numpy takes a while, which other verbs need not pay.
    from frontload.auto import programs, trial, verdict, workload
    from frontload.auto.link_sources import Given, Search

    called = args.program or words[0]
    program = programs.program_of(called)
    plan = trial.Plan(
        program=program,
        workloads=(workload.read(words, program, called),
                   *(workload.parse(text, program, called) for text in args.workload)),
        profile=os.path.abspath(args.profile or f"{program}.startup"),
        output=os.path.abspath(args.output or f"{program}{programs.TRIED}"),
        runs=args.runs, data=args.data, modules=tuple(args.module), until=args.until,
        seconds=args.seconds, prefetch=args.prefetch, min_match=args.min_match,
        min_coverage=args.min_coverage,
        measured_runs=0 if args.no_measure else args.measured_runs, device=device,
        beside=tuple(args.extra), compare=not args.no_compare,
        keep=args.keep)
    for path in (plan.profile, plan.output):
        if os.path.realpath(path) == program:
            args.usage_error(f"{path} is the program itself: --in-place puts the new one there")
    link = Search(program, Given(args.link, args.link_log, args.build, args.build_folder)).find()
    outcome = trial.run(plan, link)
    good = outcome.good(plan)
    replaced, problem = False, None
    if args.in_place and good:
        try:
            _put_in_place(plan.output, program)
            replaced = True
        except OSError as caught:  # told behind the verdict, which is not lost by it
            problem = caught
    if args.json:
        verdict.write_json(args.json, plan, outcome, replaced)
    if args.json != STDOUT:
        verdict.show(plan, outcome, replaced)
    if not good:
        for reason in verdict.reasons(plan, outcome):
            errors.error(reason)
        if args.in_place:
            errors.note(f"{program} was not replaced; the one with a front is {plan.output}")
    if problem:
        raise Failure(f"{program}: was not replaced: {problem.strerror}",
                      note=f"the one with a front is {plan.output}")
    return EXIT_OK if good else EXIT_VERDICT


def _put_in_place(output: str, program: str) -> None:
    """Moves the program with a front to the program's place in one step, also from another file
    system, from which there is no rename."""
    try:
        os.replace(output, program)
        return
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
    folder, name = os.path.split(program)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    os.close(handle)
    try:
        shutil.copy2(output, temporary)
        os.replace(temporary, program)
    except BaseException:
        os.unlink(temporary)
        raise
    os.unlink(output)
