"""frontload info: what this machine allows, and what its linkers can do."""

import argparse

from frontload import __version__
from frontload.base import console, files
from frontload.base.errors import EXIT_OK
from frontload.cli.arguments import add_json
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
# Linkers without which the main job cannot be done, and how to get them.
WANTED_LINKERS = {
    "frontload": machine.HOW_TO_GET_FRONTLOAD,
    "lld": "install it: apt-get install lld-22",
}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "info", description=DESCRIPTION, examples=EXAMPLES, exit_status={"65": None})
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
    table = console.table("what", "works", "detail", "remedy")
    for ability in abilities:
        console.add_row(table, ability.what, "yes" if ability.works else "no", ability.detail,
                        ability.remedy, style=None if ability.works else "yellow")
    console.show(table)
    print()
    table = console.table("linker", "version", "what it can do for Frontload")
    for linker in found:
        console.add_row(table, linker.path, linker.version, linker.use)
    for family in WANTED_LINKERS.keys() - {linker.family for linker in found}:
        console.add_row(table, f"ld.{family}", "not found", WANTED_LINKERS[family], style="yellow")
    console.show(table)
    return EXIT_OK
