"""frontload profile: makes a startup profile out of traces and other profiles."""

import argparse
import os

from frontload import console, errors, files, merge, profile
from frontload.errors import EXIT_OK

DESCRIPTION = """\
Make the startup profile of a program out of traces, folders of traces, and other startup profiles:

  frontload profile traces -o app.startup

The same inputs in any order give the same bytes. A trace is resolved with the binary that it was
recorded from, which must still be there, and unchanged.
"""


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "profile", help="make a startup profile out of traces",
        description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", metavar="TRACE", nargs="+",
                        help="a trace, a folder with traces, or a startup profile")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: stdout)")
    parser.add_argument("--program", metavar="NAME",
                        help="the program or shared library that the profile is for; needed if the "
                        "traces are of several programs")
    parser.add_argument("--binary", metavar="PATH",
                        help="the program, if it is not where it was when it was recorded")
    parser.add_argument("--allow-partial", action="store_true",
                        help="leave out inputs that cannot be used, with a warning for each")
    return parser


def run(args: argparse.Namespace) -> int:
    merger = merge.Merger(args.program, args.binary, args.allow_partial)
    for path in console.progress(list(merge.expand(args.inputs)), "reading traces"):
        merger.add(path)
    result = merger.result()
    files.write_output(args.output, profile.to_bytes(result))
    errors.note(f"{os.fsdecode(result.program)}: {errors.count(len(result.touches), 'name')} from "
                f"{errors.count(result.runs, 'run')}")
    return EXIT_OK
