"""frontload order: makes an order file for a linker out of a startup profile."""

import argparse
import os

from frontload import (
    errors,
    files,
    match,
    order_bfd,
    order_gold,
    order_lld,
    order_mold,
    profile,
)
from frontload.errors import EXIT_DATA, EXIT_OK, Failure
from frontload.order_format import Request

# What can take an order: its module, with the interface that order_format.py describes.
FORMATS = {
    "lld": order_lld,
    "gold": order_gold,
    "bfd": order_bfd,
    "mold": order_mold,
}
DESCRIPTION = """\
Make an order file for a linker out of a startup profile: what the linker knows functions and data
by, in first-touch order.

  frontload order app.startup --linker lld --binary app -o app.order
  clang -fuse-ld=lld -Wl,--symbol-ordering-file=app.order ...

Linkers have their own ideas of names that do not exist. Only what the program as it was linked last
(--binary), or the objects and archives that are linked (--objects), define goes into the file; and
if that is less than --min-match percent of the profile's names, nothing is written, and the exit
status is 1.
"""


def add_parser(verbs) -> argparse.ArgumentParser:
    uses = "\n".join(f"  {linker:<10} {module.USE}" for linker, module in FORMATS.items())
    parser = verbs.add_parser(
        "order", help="make an order file for a linker",
        description=DESCRIPTION, epilog=f"How the linkers take the file:\n{uses}",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", metavar="PROFILE", help="a startup profile")
    parser.add_argument("--linker", required=True, choices=tuple(FORMATS),
                        help="the linker that is to read the file")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: stdout)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--binary", metavar="FILE",
                       help="the linked program, not stripped, to look names up in")
    where.add_argument("--objects", metavar="FILE", nargs="+", default=[],
                       help="the objects and archives that are linked, to look names up in")
    match.add_option(parser)
    for linker, module in FORMATS.items():
        if hasattr(module, "add_options"):
            module.add_options(parser.add_argument_group(f"with --linker {linker}"))
    return parser


def run(args: argparse.Namespace) -> int:
    startup = profile.read(args.profile)
    order = FORMATS[args.linker].make(
        Request(args.profile, startup, args, args.binary, args.objects))
    if not (order.found and order.data):
        raise Failure(f"{args.profile}: none of its {order.wanted} names is in "
                      f"{args.binary or 'the objects'}", code=EXIT_DATA,
                      note=f"it is a profile of {os.fsdecode(startup.program)}: give that program, "
                      "or record this one")
    if args.binary or args.objects:
        match.judge(args.profile, order.found, order.missing, args.min_match)
    files.write_output(args.output, order.data)
    for warning in order.warnings:
        errors.warning(warning)
    for note in order.notes:
        errors.note(note)
    return EXIT_OK
