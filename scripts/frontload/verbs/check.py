"""frontload check: says how much of a startup profile lies in the front of a linked file."""

import argparse
import os

from frontload.base import console, errors, files
from frontload.base.errors import EXIT_DATA, EXIT_OK, EXIT_VERDICT, Failure, printable
from frontload.cli.arguments import add_json, add_min_match, percentage
from frontload.elf import file as elf
from frontload.elf import relocations, relocations_report
from frontload.elf.loading import read_loading
from frontload.profile import coverage, match
from frontload.profile import format as profile
from frontload.profile import resolver as names

SCHEMA = "frontload-check/1"
SHOWN = 5  # missing names that are shown for each reason
DESCRIPTION = """\
Look in a linked program or shared library, not yet stripped, for what a startup profile names: how
much of it is in the file, how much lies in the front, what is missing and why. In a file that
ld.frontload did not link, the front is one block of each output section.

One line tells what the loader has to do before the first instruction. With --relocations, check
tells in full what relocations cost and what other linker options would change. This is not part of
the verdict.
"""
EXAMPLES = """\
# see how much of the profile is in the front; fail if it is too little
frontload check app --profile app.startup
# in CI, also fail if app was linked without a front
frontload check app --profile app.startup --require-front
# see what the loader has to do, and which linker options would change that
frontload check app --profile app.startup --relocations
# list all missing names, for a script
frontload check app --profile app.startup --min-coverage 0 --min-match 0 --json -
"""
EXIT_STATUS = {"1": "fewer than --min-coverage percent of the profile's names are in the front, or "
                    "fewer than --min-match percent anywhere in the file; or, with "
                    "--require-front, the file has no front"}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "check", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("binary", metavar="BINARY", help="a linked program or shared library")
    parser.add_argument("--profile", metavar="FILE", required=True,
                        help="the startup profile of the program")
    parser.add_argument("--min-coverage", metavar="PERCENT", type=percentage, default=95.0,
                        help="the share of the profile's names that must be in the front (default "
                        "95)")
    add_min_match(parser)
    parser.add_argument("--require-front", action="store_true",
                        help="fail if BINARY was linked without a front, wherever an order file or "
                        "chance put things")
    parser.add_argument("--relocations", action="store_true",
                        help="also show what relocations cost, and what would change that")
    add_json(parser, "JSON, with all missing names,", before_files=True)
    return parser


def run(args: argparse.Namespace) -> int:
    startup = profile.read(args.profile)
    binary = elf.read(args.binary)
    binary.linked_symbols()  # refuses what has none, and says what to do
    report = coverage.examine(binary, startup, names.resolve(args.profile, [args.binary]).places)
    if not report.names:
        raise Failure(f"{args.profile}: names no function and no data", code=EXIT_DATA,
                      note="check looks for symbols: record the program's functions as well")
    relocated = relocations.examine(binary, read_loading(args.binary))
    lacks_front = args.require_front and report.blocks is not None
    good = (not lacks_front and report.coverage >= args.min_coverage
            and 100 * report.present >= args.min_match * report.names)
    if args.json:
        files.write_json(args.json, {**_as_json(args, startup, report, good),
                                     "relocations": relocations_report.as_json(relocated)})
    if args.json != files.STDOUT:
        _show(args, startup, report)
        print(relocations_report.summary(relocated))
        if args.relocations and relocated:
            relocations_report.show(relocated)
    # If nothing is found, more is to be said than that.
    match.judge(args.profile, report.present,
                [entry.name.name for entry in report.missing
                 if entry.reason != coverage.Reason.OUTSIDE],
                args.min_match if report.present else 0)
    if good:
        return EXIT_OK
    if lacks_front:
        errors.error(f"{args.binary}: was linked without a front")
        errors.note(f"link with ld.frontload --startup-profile={args.profile}")
        return EXIT_VERDICT
    errors.error(f"{args.binary}: {errors.percent(report.placed, report.names)} of the names in "
                 f"{args.profile} are in the front, less than "
                 f"{max(args.min_coverage, 0 if report.present else args.min_match):g}%")
    if not report.present:
        errors.note(f"it is a profile of {_text(startup.program)}: check that program, or record "
                    "this one")
    elif 100 * report.present < args.min_coverage * report.names:
        errors.note("the profile is stale: record the program again")
    else:
        errors.note(f"link with ld.frontload --startup-profile={args.profile}, or with the output "
                    "of frontload order")
    return EXIT_VERDICT


def _text(name: bytes) -> str:
    """A name as it stands in a profile."""
    return profile.escape(name).decode("utf-8")


def _show(args: argparse.Namespace, startup: profile.Profile, report: coverage.Report) -> None:
    print(f"{printable(args.binary)}: {report.placed} of {errors.count(report.names, 'name')} of "
          f"{_shown(startup.program)} ({errors.count(startup.runs, 'run')}) in the front: "
          f"{errors.percent(report.placed, report.names)}")
    if report.blocks is not None and not args.require_front:
        errors.note(f"{args.binary}: has no front of ld.frontload: this judges what an order file "
                    "did")
    where = ("the start of the file" if report.blocks is None else
             f"in {errors.count(len(report.blocks), 'startup block')}")
    print(f"front: {report.front_size:,} of {os.path.getsize(args.binary):,} bytes, {where}; "
          f"density {report.density:.3f}")
    ordered = report.longest_run
    if ordered.names:
        print(f"longest ordered run: {errors.count(ordered.names, 'name')} in "
              f"{_shown(ordered.section)}, {_shown(ordered.first)} to {_shown(ordered.last)}")
    if report.ambiguous:
        print(f"names that stand for several symbols: {errors.count(report.ambiguous, 'name')}")
    if report.inexact:
        print(f"found under the name they have now: {errors.count(report.inexact, 'name')}")
    if report.not_sought:
        print(f"not looked for, having no symbol: "
              f"{errors.count(report.not_sought, 'section or string', 'sections and strings')}")
    table = console.table("class", "names", "present", "in front", "bytes", "in front",
                          numbers=range(1, 6))
    for name, count in report.classes.items():
        if count.names:
            console.add_row(table, name, count.names, count.present, count.placed,
                            f"{count.bytes_present:,}", f"{count.bytes_placed:,}")
    console.show(table)
    for reason in coverage.Reason:
        missing = [entry for entry in report.missing if entry.reason == reason]
        if missing:
            print(f"{reason}: {errors.count(len(missing), 'name')}")
            for entry in missing[:SHOWN]:
                place = f" ({_shown(entry.section)})" if entry.section else ""
                print(f"  {_shown(entry.name.name)}{place}")
            if len(missing) > SHOWN:
                print(f"  and {len(missing) - SHOWN} more (--json lists all)")


def _shown(name: bytes) -> str:
    return printable(_text(name))


def _as_json(args: argparse.Namespace, startup: profile.Profile, report: coverage.Report,
             good: bool) -> dict:
    blocks = report.blocks and [
        {"section": _text(block.section), "offset": block.offset, "bytes": block.size}
        for block in report.blocks]
    ordered = report.longest_run
    return {
        "schema": SCHEMA,
        "binary": args.binary,
        "profile": args.profile,
        "program": _text(startup.program),
        "runs": startup.runs,
        "good": good,
        "min_coverage": args.min_coverage,
        "min_match": args.min_match,
        "coverage": report.coverage,
        "names": report.names,
        "present": report.present,
        "placed": report.placed,
        "ambiguous": report.ambiguous,
        "inexact": report.inexact,
        "not_sought": report.not_sought,
        "front": {
            "is": "prefix" if report.blocks is None else "blocks",
            "bytes": report.front_size,
            "file_bytes": os.path.getsize(args.binary),
            "density": report.density,
            "blocks": blocks,
        },
        "longest_ordered_run": {"names": ordered.names, "section": _text(ordered.section),
                                "first": _text(ordered.first), "last": _text(ordered.last)},
        "classes": {name: vars(count) for name, count in report.classes.items()},
        "missing": [{
            "name": _text(entry.name.name), "kind": entry.name.kind,
            "class": entry.name.section_class, "file": _text(entry.name.file) or None,
            "reason": str(entry.reason), "section": _text(entry.section) or None,
        } for entry in report.missing],
    }
