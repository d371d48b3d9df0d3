"""frontload order: makes an order file for a linker out of a startup profile."""

import argparse
import os

from frontload import errors, files, order_lld, profile
from frontload.errors import EXIT_DATA, EXIT_OK, Failure

DESCRIPTION = """\
Make an order file for a linker out of a startup profile: for lld, the names of functions and data
in first-touch order.

  frontload order app.startup --linker lld --binary app -o app.order
  clang -fuse-ld=lld -Wl,--symbol-ordering-file=app.order ...

lld warns about names that it does not find, so only names that the program as it was linked last
(--binary), or the objects and archives that are linked (--objects), define go into the file.
"""


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "order", help="make an order file for a linker",
        description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", metavar="PROFILE", help="a startup profile")
    parser.add_argument("--linker", required=True, choices=("lld",),
                        help="the linker that is to read the file")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: stdout)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--binary", metavar="FILE",
                       help="the linked program, not stripped, to look names up in")
    where.add_argument("--objects", metavar="FILE", nargs="+",
                       help="the objects and archives that are linked, to look names up in")
    return parser


def run(args: argparse.Namespace) -> int:
    startup = profile.read(args.profile)
    known = None
    if args.binary:
        known = order_lld.names_in_binary(args.binary)
    elif args.objects:
        known = order_lld.names_in_objects(args.objects)
    order = order_lld.make(startup, known)
    if not order.names:
        raise Failure(f"{args.profile}: none of its {order.wanted} names is in "
                      f"{args.binary or 'the objects'}", code=EXIT_DATA,
                      note=f"it is a profile of {os.fsdecode(startup.program)}: give that program, "
                      "or record this one")
    files.write_output(args.output, b"".join(name + b"\n" for name in order.names))
    if order.refused:
        errors.warning(f"{errors.count(order.refused, 'name')} left out, which lld cannot read "
                       "from a file: a # at the start, a space at an end, or a newline")
    others = sum(not name.has_symbol for name in startup.touches)
    if others:
        what = errors.count(others, "section or string", "sections and strings")
        errors.note(f"{what} left out: lld orders symbols only")
    found = f"{len(order.names)} of {errors.count(order.wanted, 'name')}"
    if known is None:
        errors.note(f"{found}; lld will warn about those that do not exist: give --binary or "
                    "--objects to leave them out")
    else:
        errors.note(f"{found} found ({errors.percent(len(order.names), order.wanted)})")
    return EXIT_OK
