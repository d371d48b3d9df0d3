"""frontload info: what this machine allows, what its linkers can do, and what is in traces, startup
profiles and prefetch lists."""

import argparse
import textwrap

from frontload import __version__
from frontload.base import files
from frontload.base.errors import EXIT_OK, printable
from frontload.cli import shown_files
from frontload.cli.arguments import add_json
from frontload.cli.parser import Parser
from frontload.machine import linkers
from frontload.machine import probes as machine

SCHEMA = "frontload-info/1"
DESCRIPTION = """\
Show what this machine allows Frontload to do, and what each linker on it can do with a startup
profile. Frontload tries each ability out, and names the remedy for what is missing.

With FILE, show what is in traces, startup profiles and prefetch lists. A trace has the modules of
one process, with how much it touched in each; a profile has names, by kind, class and how many of
the runs touch them; a prefetch list has files.

With --all, show everything as well, a line each, in the order of first touch: what a process
touched, the entries of a profile, the ranges of a prefetch list. Names stand last in a line, as the
linker knows them; c++filt makes them readable. A trace has addresses, which frontload profile gives
names.
"""
EXAMPLES = """\
# see what this machine allows
frontload info
# see what a process recorded, and what a profile has
frontload info traces
frontload info app.startup
# list the names of a profile in their order, as people write them
frontload info --all app.startup | c++filt
# count what each module of each trace touched, for a script
frontload info --json - traces
"""
_WIDTH = 80
# Linkers without which the main job cannot be done, and how to get them.
WANTED_LINKERS = {
    "frontload": machine.HOW_TO_GET_FRONTLOAD,
    "lld": "install it: apt-get install lld-22",
}


def make_parser() -> Parser:
    parser = Parser(
        "frontload info", description=DESCRIPTION, examples=EXAMPLES)
    parser.add_argument("files", metavar="FILE", nargs="*", help="a trace, a startup profile, "
                        "a prefetch list, or a folder of traces")
    parser.add_argument("--all", action="store_true",
                        help="also list all touches, entries or ranges")
    add_json(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    if args.files:
        shown_files.show(args.files, lists_all=args.all, json=args.json)
    else:
        if args.all:
            args.usage_error("--all is about a FILE")
        _show_machine(args)
    return EXIT_OK


def _show_machine(args: argparse.Namespace) -> None:
    """Prints what works here."""
    abilities = machine.abilities()
    found = linkers.find()
    if args.json:
        files.write_json(args.json, {
            "schema": SCHEMA,
            "frontload": __version__,
            "abilities": [vars(ability) for ability in abilities],
            "linkers": [vars(linker) for linker in found],
        }, indent=2)
    if args.json == files.STDOUT:
        return
    print("This machine:")
    for ability in abilities:
        works = "yes" if ability.works else "no"
        print(_fill(f"{works:<4} {ability.what}: {ability.detail}", 2, 7))
        if ability.remedy:
            print(_fill(f"remedy: {ability.remedy}", 7, 15))
    print("\nLinkers, and what they do with a startup profile:")
    for use in dict.fromkeys(linker.use for linker in found):
        print(_fill(use, 2, 4))
        for linker in found:
            if linker.use == use:
                print(_fill(f"{linker.path}: {linker.version}", 6, 10))
    for family in WANTED_LINKERS.keys() - {linker.family for linker in found}:
        print(_fill(f"no ld.{family}: {WANTED_LINKERS[family]}", 2, 4))
    print("\n" + _fill(f"Next: {_next(abilities, found)}"))


def _next(abilities: list[machine.Ability], found: list[linkers.Linker]) -> str:
    """What to do first: with the tools that are there, or to get those that a front needs."""
    if all(linker.family != "frontload" for linker in found):
        return f"{WANTED_LINKERS['frontload']}, for ld.frontload makes fronts"
    if not (tracing := abilities[0]).works:
        return f"{tracing.remedy}, to record functions"
    return "frontload auto -- APP ARGUMENT... tries all steps, on a program that you built here"


def _fill(text: str, first: int = 0, rest: int = 6) -> str:
    """Lines of a terminal's usual width, the first and the others indented; a path stays whole."""
    return textwrap.fill(printable(text), _WIDTH, initial_indent=" " * first,
                         subsequent_indent=" " * rest, break_long_words=False,
                         break_on_hyphens=False)
