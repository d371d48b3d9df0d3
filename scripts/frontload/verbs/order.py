"""frontload order: makes an order file for a linker out of a startup profile."""

import argparse
import os
import re
import tempfile
from pathlib import Path
from typing import Protocol

from frontload.base import errors, files, response_files
from frontload.base.errors import EXIT_DATA, EXIT_OK, BadData, Failure
from frontload.base.lifetime import until_the_end
from frontload.cli.arguments import add_min_match
from frontload.cli.parser import Parser
from frontload.order import (
    bfd as order_bfd,
)
from frontload.order import (
    bolt as order_bolt,
)
from frontload.order import (
    clang as order_clang,
)
from frontload.order import (
    coff as order_coff,
)
from frontload.order import (
    gold as order_gold,
)
from frontload.order import (
    ld64 as order_ld64,
)
from frontload.order import (
    lld as order_lld,
)
from frontload.order import (
    temporal as order_temporal,
)
from frontload.order.request import Order, Request
from frontload.profile import format as profile
from frontload.profile import generations, match, merge
from frontload.profile.startup_profile import Profile


class _Format(Protocol):
    USE: str

    def make(self, request: Request) -> Order: ...


# What can take an order: its module, with the interface that order/request.py describes.
FORMATS: dict[str, _Format] = {
    "lld": order_lld,
    "gold": order_gold,
    "bfd": order_bfd,
    "lld-link": order_coff.LLD_LINK,
    "link": order_coff.LINK,
    "ld64": order_ld64,
    "ld64.lld": order_ld64,
    "bolt": order_bolt,
    "llvm-profdata": order_temporal,
    "clang": order_clang,
}
FIRST_TOUCH, BALANCED = "first-touch", "bp"
# What compilers add to each link, by the names of objects in a profile, of their source files if it
# was made without a map, and of what is not local to a file.
_ADDED = re.compile(rb"(?:.*/)?(?:[A-Za-z]*crt[A-Za-z0-9]*\.o|crtstuff\.c)")
_OF_ADDED = {b"_start", b"_init", b"_fini", b"_dl_relocate_static_pie"}
DESCRIPTION = """\
Make an order file for a linker from a startup profile: the linker's names for functions and data,
in first-touch order.

A linker may reject or ignore names that do not exist. So the file gets only names that the program
as last linked (--binary), or the objects and archives to be linked (--objects), define. If these
are less than --min-match percent of the profile's names, nothing is written. Several profiles of a
program are scenarios: they are merged, unless the linker or --algorithm bp uses each by itself.
"""
EXAMPLES = """\
# for the lld of your toolchain
frontload order app.startup --linker lld --binary app -o app.order
clang -fuse-ld=lld -Wl,--symbol-ordering-file=app.order *.o -o app.ordered
# for gold, from the objects to be linked
frontload order app.startup --linker gold --objects app.o -o app.sections
"""
EXIT_STATUS = {"1": "fewer than --min-match percent of the profile's names are found"}


def make_parser() -> Parser:
    uses = {linker: module.USE for linker, module in FORMATS.items()}
    parser = Parser(
        "frontload order", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS,
        lists={"how each linker takes the file": uses})
    parser.add_argument("profiles", metavar="PROFILE", nargs="+",
                        help="a startup profile of the program")
    parser.add_argument("--linker", required=True, choices=tuple(FORMATS), metavar="LINKER",
                        help="what will read the file: one of the list below")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the file to write (default: stdout, as with -)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--binary", metavar="BINARY",
                       help="the linked program, not stripped, to look up names in")
    where.add_argument("--objects", metavar="FILE", nargs="+", default=[],
                       help="the objects and archives to be linked, to look up names in; @FILE "
                       "is a response file that lists such files")
    parser.add_argument("--algorithm", choices=(FIRST_TOUCH, BALANCED), default=FIRST_TOUCH,
                        help="how to order: by first touch (the default), or by LLVM's balanced "
                        "partitioning, which llvm-profdata computes")
    add_min_match(parser)
    for linker, module in FORMATS.items():
        if hasattr(module, "add_options"):
            module.add_options(parser.add_argument_group(f"with --linker {linker}"))
    return parser


def run(args: argparse.Namespace) -> int:
    module = FORMATS[args.linker]
    if args.algorithm != FIRST_TOUCH and not hasattr(module, "ANY_ORDER"):
        raise Failure(f"--linker {args.linker} takes no --algorithm",
                      note=f"leave it out, or use one of {', '.join(_of_any_order())}")
    args.objects = [each for given in args.objects for each in _listed(given)]
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        path = args.profiles[0] if len(args.profiles) == 1 else _merged(args.profiles, folder)
        request = until_the_end(Request(
            path, lambda: profile.read(path), args, args.binary, args.objects,
            args.profiles if len(args.profiles) > 1 else [], args.algorithm == BALANCED))
        order = module.make(request)
        startup = request.profile
    label = ", ".join(args.profiles)
    if not order.found:
        raise Failure(f"{label}: none of its {order.wanted} names is in "
                      f"{args.binary or 'the objects'}", code=EXIT_DATA,
                      note=f"it is a profile of {os.fsdecode(startup.program)}: give that program, "
                      "or record this one")
    if args.objects and (added := _of_added_files(startup, order.missing)):
        errors.note(f"{label}: {errors.count(added, 'name')} of crt1.o, crtbegin.o and the like, "
                    "which the compiler adds to each link: missing unless --objects has these, too")
    if args.binary or args.objects:
        match.judge(label, order.found, order.missing, args.min_match)
    if order.data:
        files.write_output(args.output, order.data)
    for warning in order.warnings:
        errors.warning(warning)
    for note in order.notes:
        errors.note(note)
    if not order.data:
        raise Failure(f"{label}: nothing of it can be ordered by {args.linker}", code=EXIT_DATA,
                      note="the warnings say why")
    return EXIT_OK


def _listed(given: str) -> list[str]:
    """The files that an argument stands for."""
    if not given.startswith("@"):
        return [given]
    path = given.removeprefix("@")
    with files.open_input(path, note="a file whose name begins with @ is ./@...") as stream:
        listed = response_files.words(stream.read().decode("utf-8", "surrogateescape"))
    if not listed:
        raise BadData(path, "lists no objects", note="make it with: printf '%s\\n' *.o > FILE")
    return listed


def _of_added_files(startup: Profile, missing: list[bytes]) -> int:
    """How many of the missing names nobody finds in objects of their own."""
    names = set(missing)
    return sum(entry.name in names and (entry.name in _OF_ADDED or
                                        _ADDED.fullmatch(entry.file) is not None)
               for entry in startup.touches)


def _of_any_order() -> list[str]:
    return [linker for linker, module in FORMATS.items() if hasattr(module, "ANY_ORDER")]


def _merged(paths: list[str], folder: str) -> str:
    """Where the profile that is merged from several can be read."""
    merger = merge.Merger()
    for path in paths:
        merger.add(path)
    result, merged = merger.result(), Path(folder, "merged.startup")
    result.keep_generations(generations.MOST)
    merged.write_bytes(profile.to_bytes(result))
    return str(merged)
