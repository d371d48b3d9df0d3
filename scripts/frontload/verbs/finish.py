"""frontload finish: writes into a linked program which of its parts a start needs."""

import argparse
import subprocess

from frontload.base import errors, tools
from frontload.base.errors import EXIT_OK
from frontload.cli.arguments import add_min_match
from frontload.cli.parser import Parser

_WRITER = "frontload-predict"
DESCRIPTION = """\
Write the parts of BINARY that a start touches, by a startup profile, into the note of BINARY. With
libfrontload-prefetch the program then asks for these parts when it starts, and frontload-run asks
for them. This is for programs of any linker but ld.frontload: link them with room for a note, which
is lib/frontload/note.o of Frontload. frontload-cc does all of this.

Finish after the link, before or after strip; a stripped program needs its debug file. Nothing else
in the file changes, so its build-id stays, and debug files fit. The same program and profile give
the same bytes. A program with a front keeps it, and is left alone.
"""
EXAMPLES = """\
gcc *.o -fuse-ld=mold "$(pkg-config --variable=note frontload)" -lfrontload-prefetch -o app
frontload finish app --profile app.startup
"""


def make_parser() -> Parser:
    parser = Parser(
        "frontload finish", description=DESCRIPTION, examples=EXAMPLES,
        exit_status={"1": "fewer than --min-match percent of the profile's names are found",
                     "65": "a file is damaged, or BINARY has no room for a note"})
    parser.add_argument("binary", metavar="BINARY", help="a program or a shared library")
    parser.add_argument("--profile", metavar="FILE", required=True, help="its startup profile")
    add_min_match(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    result = subprocess.run(
        [tools.tool(_WRITER), "--startup-profile", args.profile, "--finish",
         f"--min-match={args.min_match:g}", "--", args.binary], stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", errors="surrogateescape")
    if result.returncode != EXIT_OK:
        raise tools.failure_of(_WRITER, result.returncode, result.stderr,
                               "please report this, with the profile and the program")
    for line in result.stderr.splitlines():
        errors.note(line.removeprefix(f"{_WRITER}: note: "))
    print(errors.printable(result.stdout.rstrip("\n")))
    return EXIT_OK
