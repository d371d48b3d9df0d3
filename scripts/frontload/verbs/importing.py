"""frontload import: makes a startup profile out of other tools' files.

`profile` reads what Frontload recorded, which names its program and its build. Files of other tools
say neither, so this verb has other options. Its result is an ordinary input of `profile`.
"""

import argparse
import os

from frontload import importers
from frontload.base import errors, files
from frontload.base.errors import EXIT_OK
from frontload.cli.arguments import add_min_match, program_argument
from frontload.cli.parser import Parser

DESCRIPTION = """\
Make a startup profile from order files and traces of other tools. Each input is one run or several;
the runs merge as in `frontload profile`. With --binary, their names become functions or data of
that program, and names that it does not have are left out and counted; without it, all names are
taken for functions. docs/import.md explains for each format how to make such a file and what it can
contain.
"""
EXAMPLES = """\
# from an order file for another linker
frontload import old.order --binary app -o app.startup
# from the output of perf script
frontload import --format perf start.txt --program app -o app.startup
"""
EXIT_STATUS = {"1": "fewer than --min-match percent of the names are in --binary"}
AUTO = "auto"


def make_parser() -> Parser:
    parser = Parser(
        "frontload import", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS,
        lists={"formats": {each.name: each.made_by for each in importers.FORMATS.values()}})
    parser.add_argument("inputs", metavar="FILE", nargs="+",
                        help="an order file or a trace of another tool, or @FILE, which lists such "
                        "inputs, one a line (@-: a list on stdin)")
    parser.add_argument("--format", choices=(AUTO, *importers.FORMATS), metavar="FORMAT",
                        default=AUTO, help="the format of the inputs, see below (default: what "
                        "each looks like)")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the profile to write (default: stdout, as with -)")
    parser.add_argument("--binary", metavar="BINARY",
                        help="the program that the inputs describe")
    parser.add_argument("--program", metavar="PROGRAM", type=program_argument,
                        help="the program or shared library that the profile is for, by its name "
                        "or path (default: that of --binary)")
    add_min_match(parser)
    parser.add_argument("--allow-partial", action="store_true",
                        help="leave out inputs that cannot be used, and warn of each")
    return parser


def run(args: argparse.Namespace) -> int:
    from frontload.importers import runs
    from frontload.profile import format as profile
    from frontload.profile import inputs, merge

    merger = merge.Merger(args.program, args.binary, allow_partial=args.allow_partial)
    try:
        runs.add(merger, list(inputs.expand([(path, 1) for path in args.inputs],
                                            merger.diagnostics, folders=False)),
                 args.program, args.binary, None if args.format == AUTO else args.format,
                 args.min_match)
        result = merger.result()
    finally:
        merger.diagnostics.show()
    files.write_profile(args.output, profile.to_bytes(result))
    errors.note(f"{os.fsdecode(result.program)}: {errors.count(len(result.touches), 'name')} from "
                f"{errors.count(result.recorded_runs(), 'run')}")
    return EXIT_OK
