"""frontload auto: all steps for a program that can be linked again, from one command."""

import argparse
import os
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from frontload.base import console, errors, processes
from frontload.base.errors import EXIT_OK, EXIT_VERDICT, Failure
from frontload.base.files import STDOUT
from frontload.cli import device_options, ready_options
from frontload.cli.arguments import (
    add_json,
    add_min_match,
    command,
    count,
    file_only,
    percentage,
    program_argument,
)
from frontload.cli.parser import Parser

if TYPE_CHECKING:
    from frontload.auto.link_command import LinkCommand

DESCRIPTION = """\
Try what a front does for a program: find the command that linked it, link it again, record the
command, make the startup profile, link with the profile, check, compare the output of both
programs, and measure both cold. The program itself stays as it is; APP.startup and APP.front appear
beside it. Shared libraries of the same build get fronts as well. The last line is the verdict.

auto looks for the link command in this order: --link, a log of frontload-cc --link-log, a folder
above the program that Ninja or CMake's Makefiles built, a build that --build runs under strace,
make -n (and libtool), and cargo. A script, or a command such as `cargo run`, runs once under
strace, to see which program of the project it starts. docs/auto.md explains what happens in which
case.
"""
EXAMPLES = """\
# a program that CMake or Meson built with Ninja, or CMake with make
frontload auto -- build/app --its arguments
# a program that make, Autotools with libtool, or cargo built
frontload auto -- ./app --version
# the same, if make was given variables: auto watches the build
frontload auto --build 'make CC=clang' -- ./app --version
# a program whose link command is known; record functions only
frontload auto --link 'c++ main.o -o app' --no-data -- ./app
# a program that a script starts, in more than one way
frontload auto --program build/app --workload '{} --help' -- ./start-it.sh {} --fast
# the same front also for all that the program's tests start
frontload auto --train 'make check' -- ./app --version
"""
EXIT_STATUS = {"1": "the program cannot be linked again; or it was, and too few names are in the "
                    "front, its output differs, or it is not worth it",
               "124": "the program was not ready in time"}
ENVIRONMENT = {"FRONTLOAD_LINK_LOG": "the log of links to read without --link-log",
               "TMPDIR": "where traces and the map are while auto works (default: /tmp); "
                         "--train needs room there for one trace of each process"}
FILES = {"APP.startup": "the startup profile, beside the program; check it in",
         "APP.front": "the program with a front",
         "APP.front.lib": "the libraries of its build that gain by a front"}


def make_parser() -> Parser:
    parser = Parser(
        "frontload auto", usage="%(prog)s [OPTION]... -- COMMAND...",
        description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS,
        environment=ENVIRONMENT, files=FILES)
    parser.add_argument("--program", metavar="PROGRAM", type=program_argument,
                        help="the program, by its name or path, if COMMAND starts it indirectly; "
                        "{} in COMMAND stands for it")
    parser.add_argument("--workload", metavar="COMMAND", action="append", default=[],
                        help="another command that starts the program, as one argument, which is "
                        "recorded and compared as well; may be repeated")
    _add_link(parser)
    _add_recording(parser)
    result = parser.add_argument_group("what comes out")
    place = result.add_mutually_exclusive_group()
    place.add_argument("-o", "--output", metavar="FILE", type=file_only,
                       help="the program with a front (default: APP.front beside it)")
    place.add_argument("--in-place", action="store_true",
                       help="if all is well, replace the program by the one with a front")
    result.add_argument("--profile", metavar="FILE", type=file_only,
                        help="the startup profile (default: APP.startup beside the program)")
    result.add_argument("--prefetch", action="store_true", help="also link with --front-prefetch")
    add_min_match(result)
    result.add_argument("--min-coverage", metavar="PERCENT", type=percentage, default=95.0,
                        help="the share of the profile's names that must be in the front (default "
                        "95)")
    result.add_argument("--runs", metavar="N", type=count(1), default=10,
                        help="measured rounds in each condition (default %(default)s)")
    result.add_argument("--no-measure", action="store_true", help="do not measure")
    device_options.add(parser)
    result.add_argument("--no-compare", action="store_true",
                        help="do not compare the output of both programs")
    result.add_argument("--keep", metavar="DIR", help="the folder to keep the traces and the map "
                                                 "in")
    add_json(result)
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="the command and its arguments, after --")
    return parser


def _add_link(parser: argparse.ArgumentParser) -> None:
    link = parser.add_argument_group("how it was linked")
    link.add_argument("--link", metavar="COMMAND", help="the link command, as one argument")
    link.add_argument("--link-log", metavar="FILE", help="a log of frontload-cc --link-log "
                      "(default: $FRONTLOAD_LINK_LOG)")
    link.add_argument("--build", metavar="COMMAND",
                      help="the build command, as one argument, to run under strace; it runs twice "
                      "if the program was up to date")
    link.add_argument("--build-folder", metavar="DIR",
                      help="the folder that --build or --link runs in (default: the current one)")


def _add_recording(parser: argparse.ArgumentParser) -> None:
    recording = parser.add_argument_group("what is recorded")
    recording.add_argument("--recordings", metavar="N", type=count(1), default=3,
                           help="recorded runs of each command (default %(default)s)")
    recording.add_argument("--train", metavar="COMMAND", action="append", default=[],
                           help="also record each process of the program that this shell command "
                           "starts, such as a test suite: the profile is then also for these; may "
                           "be repeated")
    data = recording.add_mutually_exclusive_group()
    data.add_argument("--data", dest="data", action="store_true", default=None,
                      help="also record data, in valgrind (default: if valgrind is installed)")
    data.add_argument("--no-data", dest="data", action="store_false",
                      help="record functions only")
    recording.add_argument("--module", metavar="NAME", action="append", default=[],
                           help="also record this shared library, and write its profile; may be "
                           "repeated")
    ready_options.add_until(recording, ready_options.IS_ENDED)
    ready_options.add(parser)


@processes.unwinding_on_signals()
def run(args: argparse.Namespace) -> int:
    words = command(args)
    if any("{}" in word for word in words) and not args.program:
        args.usage_error("{} in COMMAND needs --program PROGRAM")
    device = device_options.chosen(args)
    ready = ready_options.chosen(args, until=args.until)
    from frontload.auto import launched, own_libraries, programs, trial, verdict, workload
    from frontload.auto.link_sources import Search
    from frontload.auto.outcome import Plan

    messages = errors.Diagnostics(at_once=True)
    called, environment, wrapper = args.program or words[0], {}, ""
    program = programs.file_of(called)
    if not args.program and not (programs.is_elf(program) and (
            "/" in called or args.link or args.link_log or args.build)):
        found = launched.find(words, program, messages)
        wrapper = program if list(found.words[1:]) == words[1:] else ""
        program, words, environment = found.program, list(found.words), found.environment
        called = words[0] if os.path.realpath(words[0]) == program else program
        words[0] = called
    if not programs.is_elf(program):
        raise Failure(f"{called}: is not an ELF program but a script or something else",
                      note="name the program that it runs: --program APP")
    plan = Plan(
        program=program,
        workloads=(workload.read(words, program, called, environment),
                   *(workload.parse(text, program, called, environment, wrapper)
                     for text in args.workload)),
        profile=os.path.abspath(args.profile or f"{program}.startup"),
        output=os.path.abspath(args.output or f"{program}{programs.TRIED}"),
        recordings=args.recordings, training=tuple(args.train), data=args.data,
        modules=tuple(args.module), until=args.until, ready=ready, prefetch=args.prefetch,
        min_match=args.min_match, min_coverage=args.min_coverage,
        runs=0 if args.no_measure else args.runs, device=device,
        beside=tuple(args.extra), compare=not args.no_compare,
        keep=args.keep,
        built_in=os.path.abspath(args.build_folder or ".") if args.build else None)
    for path in (plan.profile, plan.output):
        if os.path.realpath(path) == program:
            args.usage_error(f"{path} is the program itself; --in-place replaces it")
    with ExitStack() as stack:
        def search(file: str) -> "LinkCommand":
            is_program = file == program
            return Search(file, args.link if is_program else None, args.link_log,
                          args.build if is_program else None, args.build_folder,
                          diagnostics=messages, stack=stack).find()

        link = search(program)
        libraries, missing = own_libraries.find(program, environment, search)
        plan = replace(plan, own_libraries=tuple(libraries))
        messages.begin = stack.enter_context(console.steps())
        outcome = trial.run(plan, link, messages)
        outcome.missing += missing
    good = outcome.good(plan)
    replaced = args.in_place and good
    if replaced:
        os.replace(plan.output, program)
    if args.json:
        verdict.write_json(args.json, plan, outcome, replaced)
    if not good:
        for reason in verdict.reasons(plan, outcome):
            errors.error(reason)
        if args.in_place:
            errors.note(f"{program} was not replaced; the program with a front is {plan.output}")
    if args.json != STDOUT:
        verdict.show(plan, outcome, replaced)
    return EXIT_OK if good else EXIT_VERDICT
