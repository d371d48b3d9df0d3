"""frontload help: what man says about a verb, or what --help does."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from frontload.base import tools
from frontload.base.errors import EXIT_OK

DESCRIPTION = """\
Show the man page of a verb, or of frontload itself, if stdout is a terminal and man and the pages
are installed. Otherwise show what VERB --help shows.
"""
EXAMPLES = """\
frontload help record
# without the pager of man
frontload help record | cat
"""


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser("help", description=DESCRIPTION, examples=EXAMPLES,
                              exit_status={"65": None})
    parser.add_argument("topic", metavar="VERB", nargs="?", choices=verbs.verbs,
                        help="the verb to show (default: frontload itself)")
    parser.set_defaults(command=verbs.command, topics=verbs.verbs)
    return parser


def run(args: argparse.Namespace) -> int:
    page = _man_page(args.topic)
    if page and sys.stdout.isatty():
        return subprocess.run(["man", "-l", page], check=False).returncode
    (args.topics[args.topic] if args.topic else args.command).print_help()
    return EXIT_OK


def _man_page(topic: str | None) -> Path | None:
    """The page that belongs to this very command, if man can show it."""
    program = tools.find_tool("frontload")
    if program is None or shutil.which("man") is None:
        return None
    name = "-".join(filter(None, ("frontload", topic)))
    folder = program.resolve().parent.parent / "share" / "man" / "man1"
    found = [folder / f"{name}.1", folder / f"{name}.1.gz"]
    return next(filter(Path.is_file, found), None)
