"""frontload import: makes a startup profile out of order files and traces that people have.

This is not part of `profile`, because its inputs know less. Traces and profiles name their program
and its build, and are refused if these do not fit, so `profile` needs no further information. The
inputs of `import` say neither their format nor their program. Its result is an ordinary input of
`profile`.
"""

import argparse
import os

from frontload import importers
from frontload.base import console, errors, files
from frontload.base.errors import EXIT_DATA, EXIT_OK, EXIT_USAGE, BadData, Failure
from frontload.cli.arguments import add_min_match, program_argument
from frontload.elf import file as elf
from frontload.importers.binary_names import BinaryNames
from frontload.importers.interface import Mention, NamedRun, Source
from frontload.profile import format as profile
from frontload.profile import inputs, match, merge
from frontload.profile.startup_profile import Name, from_run
from frontload.profile.trace import Trace

_SHOWN = 3  # of names that a diagnostic counts

DESCRIPTION = """\
Make a startup profile from order files and traces of other tools. Each input is one run or several;
they merge as in `frontload profile`. With --binary, names become functions or data of that program,
and names that it does not have are left out and counted; without it, all names are taken for
functions. docs/import.md explains for each format how to make such a file and what it can contain.
"""
EXAMPLES = """\
# from an order file for another linker
frontload import old.order --binary app -o app.startup
# from the output of perf script
frontload import --format perf start.txt --program app -o app.startup
# from a log of valgrind --tool=lackey --trace-mem=yes
frontload import --format lackey app.log --binary app --map app.map -o app.startup
"""
EXIT_STATUS = {"1": "fewer than --min-match percent of the names are found in --binary"}


def add_parser(verbs) -> argparse.ArgumentParser:
    formats = {importer.name: importer.made_by for importer in importers.FORMATS.values()}
    parser = verbs.add_parser(
        "import", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS,
        lists={"formats": formats})
    parser.add_argument("inputs", metavar="INPUT", nargs="+",
                        help="an order file or a trace")
    parser.add_argument("--format", choices=("auto", *importers.FORMATS), default="auto",
                        help="the format of the inputs (default: what each looks like)")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the profile to write (default: stdout, as with -)")
    parser.add_argument("--binary", metavar="BINARY",
                        help="the program that the inputs describe, not stripped")
    parser.add_argument("--program", metavar="PROGRAM", type=program_argument,
                        help="the program or shared library that the profile is for, by its name "
                        "or path (default: that of --binary)")
    parser.add_argument("--map", metavar="FILE",
                        help="with lackey: the map that lld wrote (-Wl,-Map=FILE) when it linked "
                        "the program")
    parser.add_argument("--base", metavar="ADDRESS", type=_address,
                        help="with lackey: the load bias, which was added to the addresses of the "
                        "program, if it is not valgrind's default")
    add_min_match(parser)
    parser.add_argument("--allow-partial", action="store_true",
                        help="leave out inputs that cannot be used, and warn of each")
    return parser


def _address(text: str) -> int:
    try:
        address = int(text, 0)
    except ValueError:
        address = -1
    if not 0 <= address < 1 << 64:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address, such as 0x108000")
    return address


def run(args: argparse.Namespace) -> int:
    program = os.path.basename(args.program or args.binary or "")
    if not program:
        raise Failure("no program", code=EXIT_USAGE, note="say which program the profile is for, "
                      "with --binary PATH or --program NAME")
    linked = elf.read(args.binary) if args.binary else None
    names = BinaryNames(linked) if linked else None  # refuses a stripped program before any work
    given = None if args.format == "auto" else args.format
    merger = merge.Merger(program, args.binary, args.map, args.allow_partial)
    paths = list(inputs.expand(((path, 1) for path in args.inputs), folders=False))
    read: list[tuple[str, NamedRun | Trace]] = []
    for path, _ in console.progress(paths, "reading inputs"):
        with merger.one_input():
            source = Source(path, program, linked, args.base)
            read += [(path, run) for run in _runs(source, given)]
            source.left_out.report(path)
    if args.base is not None and not any(isinstance(run, Trace) for _, run in read):
        errors.warning("--base: not used, because no input is a log of lackey")
    known = _known(read, names, args) if names else None
    _merge(merger, read, os.fsencode(program), known)
    result = merger.result()
    files.write_profile(args.output, profile.to_bytes(result))
    errors.note(f"{program}: {errors.count(len(result.touches), 'name')} from "
                f"{errors.count(result.runs, 'run')}")
    return EXIT_OK


def _runs(source: Source, given: str | None) -> list[NamedRun | Trace]:
    importer = importers.choose(source.path, given)
    runs = list(importer.read(source))
    if not any(run.mentions if isinstance(run, NamedRun) else len(run.kinds) for run in runs):
        source.left_out.report(source.path)
        raise BadData(source.path, f"names nothing that {source.program} could have touched",
                      note=importer.note)
    return runs


def _known(read: list[tuple[str, NamedRun | Trace]], names: BinaryNames,
           args: argparse.Namespace) -> dict[Mention, list[Name]]:
    """What the program has of all that is named; fails if that is too little."""
    runs = [run for _, run in read if isinstance(run, NamedRun)]
    for run in runs:
        run.mentions = dict.fromkeys(names.locate(run.mentions))
    mentions = [mention for run in runs for mention in run.mentions]
    known = names.look_up(mentions)
    if names.of_others:
        errors.note(f"{_list(names.of_others)} left out: {args.binary} only refers to such names")
    if names.doubtful:
        errors.note(f"{_list(names.doubtful)} left out: from names of sections, and not in the "
                    "program")
    if names.ambiguous:
        errors.warning(f"{_list(names.ambiguous)} of several local functions or data: taken for "
                       "all of them, because nothing tells them apart")
    if mentions:
        match.judge(args.binary, len(known), names.missing, args.min_match)
    return known


def _list(names: list[bytes]) -> str:
    shown = b", ".join(names[:_SHOWN]).decode("utf-8", "surrogateescape")
    rest = len(names) - _SHOWN
    return f"{errors.count(len(names), 'name')} ({shown}{f' and {rest} more' if rest > 0 else ''})"


def _merge(merger: merge.Merger, read: list[tuple[str, NamedRun | Trace]], program: bytes,
           known: dict[Mention, list[Name]] | None) -> None:
    """Hands all runs to the merger; `known` are the names that the program has, if that was
    given."""
    nameless = 0
    for path, run in read:
        if not isinstance(run, NamedRun):
            merger.add_content(path, run)
            continue
        found = [name for mention in run.mentions
                 for name in ([_unchecked(mention)] if known is None else known.get(mention, ()))]
        content = from_run(program, found)
        if content.touches:
            merger.add_content(path, content, run.weight)
        else:
            nameless += 1
    if nameless:
        errors.note(f"{errors.count(nameless, 'run')} without a name of the program left out")
    if nameless == len(read) and read:
        raise Failure("the program has none of the names in the inputs", code=EXIT_DATA,
                      note="give the program that the inputs describe with --binary")


def _unchecked(mention: Mention) -> Name:
    """What is named, if there is nothing to look it up in."""
    section_class = mention.section_class or "text"
    kind = "function" if section_class == "text" else "data"
    return Name(kind, section_class, mention.name, mention.file)
