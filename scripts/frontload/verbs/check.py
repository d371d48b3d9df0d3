"""frontload check: says how much of a startup profile lies in the front of a linked file."""

import argparse

from frontload.base import errors, files
from frontload.base.errors import EXIT_DATA, EXIT_OK, EXIT_VERDICT, Failure
from frontload.cli.arguments import add_json, add_min_match, percentage

SCHEMA = "frontload-check/1"
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
    # Imported here because numpy takes a while, which --help need not pay.
    from frontload.elf import file as elf
    from frontload.elf import relocations, relocations_report
    from frontload.elf.loading import read_loading
    from frontload.profile import coverage, coverage_report, match
    from frontload.profile import format as profile
    from frontload.profile import resolver as names

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
        files.write_json(args.json, {
            "schema": SCHEMA,
            "binary": args.binary,
            "profile": args.profile,
            "program": coverage_report.text(startup.program),
            "runs": startup.runs,
            "good": good,
            "min_coverage": args.min_coverage,
            "min_match": args.min_match,
            **coverage_report.as_json(args.binary, report),
            "relocations": relocations_report.as_json(relocated),
        })
    if args.json != files.STDOUT:
        if report.blocks is not None and not args.require_front:
            errors.note(f"{args.binary}: has no front of ld.frontload: this judges what an order "
                        "file did")
        coverage_report.show(args.binary, startup, report)
        if report.is_mostly_unnamed:
            errors.warning(f"{args.binary}: more than a quarter of what is read with the front is "
                           "in sections that neither the profile nor anything that it names leads "
                           "to")
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
        errors.note(f"it is a profile of {coverage_report.text(startup.program)}: check that "
                    "program, or record this one")
    elif 100 * report.present < args.min_coverage * report.names:
        errors.note("the profile is stale: record the program again")
    else:
        errors.note(f"link with ld.frontload --startup-profile={args.profile}, or with the output "
                    "of frontload order")
    return EXIT_VERDICT
