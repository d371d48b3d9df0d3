"""frontload info: what this machine allows, and what its linkers can do."""

import argparse
import textwrap

from frontload import __version__
from frontload.base import files
from frontload.base.errors import EXIT_OK, printable
from frontload.cli.arguments import add_json
from frontload.cli.parser import Parser
from frontload.machine import linkers
from frontload.machine import probes as machine

SCHEMA = "frontload-info/1"
DESCRIPTION = """\
Show what this machine allows Frontload to do, and what each linker on it can do with a startup
profile. Frontload tries each ability out, and names the remedy for what is missing.
"""
EXAMPLES = """\
frontload info
"""
_WIDTH = 80
# Linkers without which the main job cannot be done, and how to get them.
WANTED_LINKERS = {
    "frontload": machine.HOW_TO_GET_FRONTLOAD,
    "lld": "install it: apt-get install lld-22",
}


def make_parser() -> Parser:
    parser = Parser(
        "frontload info", description=DESCRIPTION, examples=EXAMPLES, exit_status={"65": None})
    add_json(parser)
    return parser


def run(args: argparse.Namespace) -> int:
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
        return EXIT_OK
    print(_fill(f"Next: {_next(abilities, found)}"))
    print("\nThis machine:")
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
    return EXIT_OK


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
