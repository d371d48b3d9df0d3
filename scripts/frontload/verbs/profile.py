"""frontload profile: makes a startup profile out of traces and other profiles."""

import argparse
import os
from typing import TYPE_CHECKING

from frontload.base import errors, files
from frontload.base.errors import EXIT_DATA, EXIT_OK, Failure
from frontload.cli.arguments import (
    count,
    generation,
    percentage,
    program_argument,
    role,
    weighted,
)
from frontload.cli.parser import Parser
from frontload.profile.generations import KEPT, MAX_GENERATIONS

if TYPE_CHECKING:
    from frontload.profile.startup_profile import Profile

DESCRIPTION = """\
Make the startup profile of a program from traces, folders of these, and other startup profiles.
The same inputs give the same bytes in any order. To give a trace its names, profile reads the
binary that was recorded, which must still be there unchanged. Constants and strings have no symbol;
the map of the recorded link gives them a name.

With --generation, the runs of the traces get a label, and a profile can be renewed with each build:
a run of each generation counts twice as often as one of the generation before, and only the newest
generations are kept. So what no build touches any more fades, and goes. The newest generation that
touched a name says alone how it was touched. Startup profiles among the inputs keep the labels that
they have; what has none is older than all labels.
"""
EXAMPLES = """\
# from all traces in a folder
frontload profile traces -o app.startup
# from any number of traces
find traces -name '*.fltrace*' | frontload profile @- -o app.startup
# with the data that record --data has recorded
frontload profile traces --map app.map -o app.startup
# of one kind of process, from traces of all
frontload profile traces --role renderer -o renderer.startup
# renewed by the build 2.10: what it no longer touches counts half, then a quarter
frontload profile app.startup traces --generation 2.10 -o app.startup
# from scenarios, one of which is more common
frontload profile --weighted-input 3,everyday --weighted-input 1,rare -o app.startup
"""


def make_parser() -> Parser:
    parser = Parser(
        "frontload profile", description=DESCRIPTION, examples=EXAMPLES)
    parser.add_argument("inputs", metavar="TRACE", nargs="*",
                        help="a trace, a folder of traces, a startup profile, or @FILE, which "
                        "lists such inputs, one a line (@-: a list on stdin)")
    parser.add_argument("--weighted-input", metavar="WEIGHT,PATH", action="append", default=[],
                        type=weighted,
                        help="another input, each run of which counts as WEIGHT runs; may be "
                        "repeated")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the profile to write (default: stdout, as with -)")
    parser.add_argument("--program", metavar="PROGRAM", type=program_argument,
                        help="the program or shared library that the profile is for, by its name "
                        "or path; needed if the traces are of several programs")
    parser.add_argument("--role", metavar="NAME", action="append", default=[], type=role,
                        help="of the traces, use only those of processes with this role (see "
                        "`frontload record --role`); may be repeated")
    parser.add_argument("--binary", metavar="BINARY", action="append", default=[],
                        help="the recorded program, if it is no longer where it was recorded; may "
                        "be repeated, for other builds of it")
    parser.add_argument("--map", metavar="FILE",
                        help="the map that lld wrote (-Wl,-Map=FILE) when it linked the program")
    parser.add_argument("--min-share", metavar="PERCENT", type=percentage, default=0.0,
                        help="leave out names that fewer than PERCENT of the runs touched")
    parser.add_argument("--generation", metavar="LABEL", type=generation,
                        help="the generation that the runs of the traces are of: a version, build "
                        "number or date, of which 2.10 is newer than 2.9")
    parser.add_argument("--keep-generations", metavar="N", type=count(1, MAX_GENERATIONS),
                        default=KEPT, help="how many generations the profile keeps, the newest "
                        f"ones (default %(default)s, at most {MAX_GENERATIONS})")
    parser.add_argument("-j", "--jobs", metavar="N", type=count(1),
                        help="how many processes share the work (default: one a processor)")
    parser.add_argument("--allow-partial", action="store_true",
                        help="leave out inputs that cannot be used, and warn of each")
    return parser


def run(args: argparse.Namespace) -> int:
    from frontload.profile import format as profile

    result = _merged(args)
    left_out, names = result.keep_generations(args.keep_generations)
    if left_out:
        labels = ", ".join(each.label.decode() or "the one without a label" for each in left_out)
        errors.note(f"{os.fsdecode(result.program)}: left out the oldest "
                    f"{'generation' if len(left_out) == 1 else 'generations'} ({labels}), with "
                    f"{errors.count(names, 'name')} that no newer one touched")
    if rare := result.leave_out_rare(args.min_share / 100):
        errors.note(f"{os.fsdecode(result.program)}: {errors.count(rare, 'name')} of fewer than "
                    f"{args.min_share:g}% of the runs left out")
    if not result.touches:
        raise Failure(f"{os.fsdecode(result.program)}: no name is left", code=EXIT_DATA,
                      note="choose a lower --min-share")
    files.write_profile(args.output, profile.to_bytes(result))
    errors.note(f"{os.fsdecode(result.program)}: {errors.count(len(result.touches), 'name')} from "
                f"{errors.count(result.recorded_runs(), 'run')}" + (
                    f" of {errors.count(len(result.generations), 'generation')}"
                    if result.generations else ""))
    return EXIT_OK


def _merged(args: argparse.Namespace) -> "Profile":
    from frontload.base import workers
    from frontload.profile import inputs, merge

    given = [*((path, 1) for path in args.inputs), *args.weighted_input]
    if not given:
        raise Failure("no input", note="give traces, folders of traces, or startup profiles")
    merger = merge.Merger(args.program, args.binary, args.map, args.allow_partial,
                          roles=args.role, jobs=args.jobs or workers.count(),
                          generation=args.generation or "")
    messages = merger.diagnostics
    try:
        merger.add_all(list(inputs.expand(given, messages)))
        return merger.result()
    finally:
        messages.show()
