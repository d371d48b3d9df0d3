"""frontload check: says how much of a startup profile lies in the front of a linked file."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from frontload.base import console, errors, files
from frontload.base.errors import EXIT_DATA, EXIT_OK, EXIT_VERDICT, Failure
from frontload.cli.arguments import add_json, add_min_match, percentage
from frontload.cli.parser import Parser

if TYPE_CHECKING:
    from frontload.profile.coverage import Report
    from frontload.profile.startup_profile import Profile
    from frontload.reading.asked import Shares

SCHEMA, FOLDER_SCHEMA = "frontload-check/1", "frontload-check-folder/1"
DESCRIPTION = """\
Look in a linked program or shared library for the names of a startup profile. Say how much of it is
in the file, how much lies in the front, what is missing and why. A stripped file needs its debug
information installed. In a file by another linker, the ranges of its note (frontload finish) take
the place of the front, or else one block of each output section.

check also counts what a start asks for beforehand: by the front or note, by lists, and by what
frontload-run --learn has learnt on this machine. Lists do not change the verdict.

If the profile and the program have basic blocks, check counts the functions whose blocks are still
those that were recorded. The others were split by blocks that they no longer have.

BINARY may be a folder, of an install or an unpacked package, and then the profile is a folder too:
check looks at each program and library below BINARY that has a profile NAME.startup there (without
a version: libfoo.so.startup). It fails if one of them fails, or if a profile is of none of them.
"""
EXAMPLES = """\
# see how much of the profile is in the front; fail if it is too little
frontload check app --profile app.startup
# see also what a list asks for, and what is in neither
frontload check app --profile app.startup --files app.files
# in CI, also fail if app was linked without a front
frontload check app --profile app.startup --require-front
# check all programs and libraries of an install that have a profile
frontload check debian/tmp --profile debian/startup
# list all missing names, for a script
frontload check app --profile app.startup --min-coverage 0 --min-match 0 --json -
"""
EXIT_STATUS = {"1": "fewer than --min-coverage percent of the profile's names are in the front, or "
                    "fewer than --min-match percent anywhere in the file; or, with "
                    "--require-front, the file has no front"}


def make_parser() -> Parser:
    parser = Parser(
        "frontload check", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("binary", metavar="BINARY", help="a linked program or shared library, or "
                        "a folder with such files")
    parser.add_argument("--profile", metavar="FILE", required=True,
                        help="the startup profile of the program, or a folder of profiles")
    parser.add_argument("--min-coverage", metavar="PERCENT", type=percentage, default=95.0,
                        help="the share of the profile's names that must be in the front (default "
                        "95)")
    add_min_match(parser)
    parser.add_argument("--front-report", metavar="FILE",
                        help="the report that the link wrote (-Wl,--front-report=FILE): names that "
                        "it left out of the front on purpose count as if they were in it")
    parser.add_argument("--files", metavar="LIST", action="append", default=[],
                        help="a prefetch list for frontload-run --files, or a folder of them: "
                        "count what it asks for; may be repeated")
    parser.add_argument("--require-front", action="store_true",
                        help="fail if BINARY was linked without a front, wherever an order file or "
                        "chance put things")
    add_json(parser, "JSON, with all missing names,")
    return parser


@dataclass(frozen=True)
class _Judged:
    binary: str
    profile: str
    startup: "Profile"
    report: "Report"
    asked: "Shares | None"
    shapes: tuple[int, int]  # functions with the recorded blocks, and of how many
    lacks_front: bool
    good: bool


def _judge(binary: str, profile_path: str, args: argparse.Namespace) -> _Judged:
    from frontload.elf import file as elf
    from frontload.profile import coverage, front_report
    from frontload.profile import format as profile
    from frontload.profile import resolver as names
    from frontload.reading import asked, from_profile

    linked = elf.read(binary)
    linked.linked_symbols()  # refuses a file without symbols, with a remedy
    resolved = names.resolve(profile_path, [binary])
    startup = profile.read(profile_path)
    given = asked.of_program(linked, args.lists, binary)
    report = coverage.examine(linked, startup, resolved.places,
                              front_report.left_out(args.front_report) if args.front_report else (),
                              [each.pages for each in given])
    if not report.names:
        raise Failure(f"{profile_path}: names no function and no data", code=EXIT_DATA,
                      note="check looks for symbols: record the program's functions as well")
    lacks_front = args.require_front and not report.has_front
    good = not lacks_front and coverage.suffices(report, args.min_coverage, args.min_match)
    return _Judged(binary, profile_path, startup, report,
                   asked.shares(given, report, from_profile.pages_of(profile_path, binary).pages)
                   if given else None,
                   names.count_same_blocks(startup, profile_path, binary), lacks_front, good)


def _as_json(judged: _Judged, args: argparse.Namespace) -> dict[str, object]:
    from frontload.profile import coverage_report, summary

    return {
        "binary": judged.binary,
        "profile": judged.profile,
        "program": summary.text(judged.startup.program),
        "runs": judged.startup.runs,
        "good": judged.good,
        "min_coverage": args.min_coverage,
        "min_match": args.min_match,
        **coverage_report.as_json(judged.binary, judged.report),
        "asked": judged.asked,
        "basic_blocks": dict(zip(("as_recorded", "functions"), judged.shapes, strict=True)),
    }


def run(args: argparse.Namespace) -> int:
    if os.path.isdir(args.binary) != os.path.isdir(args.profile):
        raise Failure(f"{args.binary}, {args.profile}: one is a folder, the other is not",
                      note="give a file and its profile, or a folder and a folder of profiles")
    from frontload.reading import asked

    args.lists = asked.read(args.files)
    return _run_folder(args) if os.path.isdir(args.binary) else _run_file(args)


def _run_folder(args: argparse.Namespace) -> int:
    if args.front_report:
        raise Failure("--front-report: is for one file", note="leave it out, or check one file")
    profiles = {path.name: str(path) for path in sorted(Path(args.profile).glob("*.startup"))}
    if not profiles:
        raise Failure(f"{args.profile}: has no startup profile (*.startup)",
                      note="make them with frontload profile, one for each program or library")
    from frontload.reading import from_profile

    judged, problems, seen = [], {}, set()
    for binary in _programs_below(args.binary):
        name = from_profile.plain_name(binary) + ".startup"
        if name not in profiles:
            continue
        seen.add(name)
        try:
            judged.append(_judge(binary, profiles[name], args))
        except Failure as problem:
            problems[binary] = problem
    unused = [path for name, path in profiles.items() if name not in seen]
    good = all(each.good for each in judged) and not problems and not unused
    if args.json:
        files.write_json(args.json, {
            "schema": FOLDER_SCHEMA, "folder": args.binary, "good": good,
            "files": [_as_json(each, args) for each in judged],
            "problems": {binary: problem.message for binary, problem in problems.items()},
            "unused_profiles": unused})
    if args.json != files.STDOUT and judged:
        _show_folder(judged)
    for failure in problems.values():
        errors.error(failure.message)
        if failure.note:
            errors.note(failure.note)
    for each in judged:
        if not each.good:
            errors.error(_why_not(each, args))
    for path in unused:
        errors.error(f"{path}: is of no program or library in {args.binary}")
    return EXIT_OK if good else EXIT_VERDICT


def _programs_below(folder: str) -> list[str]:
    found = []
    for inside, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(inside, name)
            # Links lead to files that are there as well.
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    if file.read(4) == b"\x7fELF":
                        found.append(path)
    return sorted(found)


def _show_folder(judged: list[_Judged]) -> None:
    table = console.table("file", "names", "in the front", "front, MB", "verdict",
                          numbers=range(1, 4))
    for each in judged:
        report = each.report
        console.add_row(table, each.binary, f"{report.names:,}",
                        errors.percent(report.placed + report.left_out, report.names),
                        f"{report.front_size / 1e6:.2f}", "good" if each.good else "NOT good")
    console.show(table)


def _why_not(judged: _Judged, args: argparse.Namespace) -> str:
    if judged.lacks_front:
        return f"{judged.binary}: was linked without a front"
    report = judged.report
    return (f"{judged.binary}: {errors.percent(report.placed + report.left_out, report.names)} of "
            f"the names in {judged.profile} are in {report.place}, less than "
            f"{max(args.min_coverage, 0 if report.present else args.min_match):g}%")


def _run_file(args: argparse.Namespace) -> int:
    from frontload.profile import coverage, coverage_report, match, summary
    from frontload.reading import asked

    judged = _judge(args.binary, args.profile, args)
    startup, report = judged.startup, judged.report
    if args.json:
        files.write_json(args.json, {"schema": SCHEMA, **_as_json(judged, args)})
    if args.json != files.STDOUT:
        if report.blocks is not None and not args.require_front:
            errors.note(f"{args.binary}: has no front of ld.frontload: this judges what an order "
                        "file did")
        coverage_report.show(args.binary, startup, report)
        if judged.asked:
            asked.show(judged.asked, report.names)
        if judged.shapes[1]:
            print("with the basic blocks that were recorded: {} of {}".format(
                judged.shapes[0], errors.count(judged.shapes[1], "function")))
    # If nothing is found, more is to be said than that.
    messages = errors.Diagnostics()
    match.judge(args.profile, report.present,
                [entry.name.name for entry in report.missing
                 if entry.reason in (coverage.Reason.NO_SYMBOL, coverage.Reason.UNDEFINED)],
                args.min_match if report.present else 0, messages)
    messages.show()
    if judged.good:
        return EXIT_OK
    errors.error(_why_not(judged, args))
    if judged.lacks_front:
        errors.note(f"link with ld.frontload --startup-profile={args.profile}")
        return EXIT_VERDICT
    if not report.present:
        errors.note(f"it is a profile of {summary.text(startup.program)}: check that "
                    "program, or record this one")
    elif 100 * report.present < args.min_coverage * report.names:
        errors.note("the profile is stale: record the program again")
    elif report.blocks is None and not args.front_report:
        errors.note("the link may have left names out on purpose: give its --front-report; "
                    "-ffunction-sections and -fdata-sections give each name a place of its own")
    else:
        errors.note(f"link with ld.frontload --startup-profile={args.profile}, or with the output "
                    "of frontload order")
    return EXIT_VERDICT
