"""frontload order: makes an order file for a linker out of a startup profile."""

import argparse
import os
import re
import shlex
import tempfile
from pathlib import Path

from frontload.base import errors, files, response_files
from frontload.base.errors import EXIT_DATA, EXIT_OK, BadData, Failure
from frontload.cli.arguments import add_min_match
from frontload.cli.parser import Parser
from frontload.order.bfd import KINDS, bfd
from frontload.order.bolt import BOLT
from frontload.order.clang import CLANG
from frontload.order.coff import LINK, LLD_LINK
from frontload.order.gold import GOLD
from frontload.order.ld64 import LD64
from frontload.order.lld import LLD
from frontload.order.request import Format, Request
from frontload.order.temporal import TEMPORAL
from frontload.profile import format as profile
from frontload.profile import generations, match, merge
from frontload.profile.startup_profile import Profile

_BFD = "bfd"
# What can take an order; bfd is made anew with its options.
FORMATS = {
    "lld": LLD,
    "gold": GOLD,
    _BFD: bfd("ld.bfd", "pie", (), is_ordering_file=False),
    "lld-link": LLD_LINK,
    "link": LINK,
    "ld64": LD64,
    "ld64.lld": LD64,
    "bolt": BOLT,
    "llvm-profdata": TEMPORAL,
    "clang": CLANG,
}
# Parts that compilers add to each link, by name in a profile: of objects, of source files if it was
# made without a map, and of symbols that are not local.
_ADDED = re.compile(rb"(?:.*/)?(?:[A-Za-z]*crt[A-Za-z0-9]*\.o|crtstuff\.c)")
_OF_ADDED = {b"_start", b"_init", b"_fini", b"_dl_relocate_static_pie"}
DESCRIPTION = """\
Make an order file for a linker from a startup profile: the linker's names for functions and data,
in first-touch order.

A linker may reject or ignore names that do not exist. So the file gets only names that the program
as last linked (--binary), or the objects and archives to be linked (--objects), define. If these
are less than --min-match percent of the profile's names, nothing is written. Several profiles of a
program are scenarios: they are merged, unless the linker uses each by itself.
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
    uses = {linker: each.use for linker, each in FORMATS.items()}
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
                       help="the linked program, not stripped or with its debug information "
                       "installed, to look up names in")
    where.add_argument("--objects", metavar="FILE", nargs="+", default=[],
                       help="the objects and archives to be linked, to look up names in; @FILE "
                       "is a response file that lists such files")
    add_min_match(parser)
    group = parser.add_argument_group(f"with --linker {_BFD}")
    group.add_argument("--linker-path", metavar="PATH", default="ld.bfd",
                       help="the GNU ld that links (default: ld.bfd in PATH)")
    group.add_argument("--output-kind", choices=tuple(KINDS), default="pie",
                       help="what is linked (default pie)")
    group.add_argument("--linker-options", metavar="OPTIONS", default="", type=_split,
                       help="what else decides ld's default script, such as "
                       "--linker-options='-z now -z noseparate-code'")
    group.add_argument("--section-ordering-file", action="store_true",
                       help="write no script, but a file for that option of ld 2.43 and newer")
    return parser


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"{text!r}: {problem}") from problem


def _format(args: argparse.Namespace) -> Format:
    if args.linker != _BFD:
        return FORMATS[args.linker]
    return bfd(args.linker_path, args.output_kind, args.linker_options,
               is_ordering_file=args.section_ordering_file)


def run(args: argparse.Namespace) -> int:
    chosen = _format(args)
    objects = [each for given in args.objects for each in _listed(given)]
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        path = args.profiles[0] if len(args.profiles) == 1 else _merged(args.profiles, folder)
        request = Request(path, args.linker, args.binary, objects,
                          args.profiles if len(args.profiles) > 1 else [])
        try:
            order = chosen.make(request)
        finally:
            request.diagnostics.show()
        startup = request.profile
    label = ", ".join(args.profiles)
    if not order.found:
        raise Failure(f"{label}: none of its {order.wanted} names is in "
                      f"{args.binary or 'the objects'}", code=EXIT_DATA,
                      note=f"it is a profile of {os.fsdecode(startup.program)}: give that program, "
                      "or record this one")
    added = _of_added_files(startup, order.missing) if objects else set()
    if added:
        errors.note(f"{label}: {errors.count(len(added), 'name')} of crt1.o, crtbegin.o and the "
                    "like, which the compiler adds to each link: not counted, and left out unless "
                    "--objects has these, too")
    if args.binary or objects:
        messages = errors.Diagnostics()
        match.judge(label, order.found, [name for name in order.missing if name not in added],
                    args.min_match, messages)
        messages.show()
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


def _of_added_files(startup: Profile, missing: list[bytes]) -> set[bytes]:
    """The missing names that are in files that compilers add."""
    return {entry.name for entry in startup.touches
            if entry.name in _OF_ADDED or _ADDED.fullmatch(entry.file)}.intersection(missing)


def _merged(paths: list[str], folder: str) -> str:
    """The path of the profile that is merged from several."""
    merger = merge.Merger()
    for path in paths:
        merger.add(path)
    result, merged = merger.result(), Path(folder, "merged.startup")
    merger.diagnostics.show()
    result.keep_generations(generations.MAX_GENERATIONS)
    merged.write_bytes(profile.to_bytes(result))
    return str(merged)
