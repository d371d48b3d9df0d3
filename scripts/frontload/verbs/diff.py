"""frontload diff: says what has changed from one startup profile to another."""

import argparse
import os
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from frontload import __version__
from frontload.base import console, errors, files
from frontload.base.errors import EXIT_OK, EXIT_VERDICT, Failure, count, percent, printable
from frontload.cli.arguments import add_json, percentage, percentage_above

if TYPE_CHECKING:
    from frontload.profile.difference import Difference
    from frontload.profile.startup_profile import Name, Profile

SCHEMA = "frontload-diff/1"
DESCRIPTION = """\
Compare two startup profiles of a program: which names are gone, have come, are called otherwise or
have moved, and how much of the profiles is the same.

A name has moved if the number of names before it, of those that both profiles have, has more than
doubled or halved. The overlap is what both profiles have of what either has: each name weighs as
much as the share of the runs that touch it. A name that is gone and one that has come are taken for
the same where a link would do so (docs/names.md); that is a guess.

With --binary, diff also predicts what starts of that program read, one that touches the names of
OLD and one that touches those of NEW: if the program was linked with OLD, the difference is about
what its old profile costs by now. A profile does not tell all that a start does, so only frontload
predict, from traces, comes near to what the kernel counts.

The files of functions and data are known where they are local symbols, or with a map of the link.
"""
EXAMPLES = """\
# see what has changed since the profile was checked in
frontload profile traces -o new.startup
frontload diff app.startup new.startup
# see what the old profile costs, by object
frontload diff app.startup new.startup --binary app --map app.map
# fail if less than 80 percent is the same
frontload diff app.startup new.startup --min-overlap 80
# fail if the new start waits 10 percent more often for the disk than the old one, or less often
frontload diff app.startup new.startup --binary app --max-fault-change 10
"""
EXIT_STATUS = {"1": "the overlap of the names is less than --min-overlap percent, or the predicted "
                    "faults differ by more than --max-fault-change percent"}
_SHOWN = 10  # names of each list, and files of each table
_NO_FILE = "(not known)"


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser("diff", description=DESCRIPTION, examples=EXAMPLES,
                              exit_status=EXIT_STATUS)
    parser.add_argument("old", metavar="OLD", help="a startup profile")
    parser.add_argument("new", metavar="NEW", help="another one of the same program")
    parser.add_argument("--all", action="store_true", help="list all names and files, not only the "
                        "first")
    parser.add_argument("--min-overlap", metavar="PERCENT", type=percentage, default=0.0,
                        help="fail if the overlap of the names is less (default %(default)g, which "
                        "never fails)")
    parser.add_argument("--binary", metavar="BINARY", help="the linked program, not stripped, to "
                        "predict starts of")
    parser.add_argument("--max-fault-change", metavar="PERCENT", type=percentage_above,
                        help="with --binary: fail if the predicted major faults of the new start "
                        "are more than PERCENT above or below those of the old one")
    parser.add_argument("--map", metavar="FILE", help="the map that lld wrote (-Wl,-Map=FILE) when "
                        "it linked PROGRAM: it tells the object of every name")
    add_json(parser, "JSON, with all names,", before_files=True)
    return parser


def run(args: argparse.Namespace) -> int:
    # Imported here because numpy takes a while, which --help need not pay.
    from frontload.profile import difference
    from frontload.profile import format as profile

    if args.map and not args.binary:
        raise Failure("--map: is of no use without --binary", note="give the program whose map it "
                      "is with --binary PROGRAM")
    if args.max_fault_change is not None and not args.binary:
        raise Failure("--max-fault-change: nothing is predicted without --binary",
                      note="give the program with --binary PROGRAM")
    old, new = profile.read(args.old), profile.read(args.new)
    if old.program != new.program:
        errors.warning(f"{args.old} is a profile of {os.fsdecode(old.program)}, {args.new} of "
                       f"{os.fsdecode(new.program)}")
    found = difference.compare(old, new)
    predicted, file_of = None, lambda name: name.file
    if args.binary:
        predicted, file_of = _predict(args)
    document = _document(args, old, new, found, file_of) | {"predicted": predicted}
    if args.json:
        files.write_json(args.json, document)
    if args.json != files.STDOUT:
        _show(document, None if args.all else _SHOWN)
    if predicted and not (old.data_runs and new.data_runs):
        errors.note("profiles of functions alone make starts look shorter than they are: record "
                    "with --data")
    if 100 * found.overlap < args.min_overlap:
        raise Failure(f"{args.old}, {args.new}: {percent(found.overlap, 1)} of the names are the "
                      f"same, less than {args.min_overlap:g}%", code=EXIT_VERDICT,
                      note="link with the new profile, or accept less with --min-overlap")
    if args.max_fault_change is not None:
        _check_faults(args, predicted)
    return EXIT_OK


def _check_faults(args: argparse.Namespace, predicted: dict) -> None:
    before, after = (predicted[label]["major_faults"] for label in ("old", "new"))
    # One fault instead of none is as much as two instead of one.
    if 100 * abs(after - before) > args.max_fault_change * max(before, 1):
        raise Failure(f"{args.old}, {args.new}: a start takes {count(after, 'major fault')}, by "
                      f"the old profile {before}: that differs by more than "
                      f"{args.max_fault_change:g}%", code=EXIT_VERDICT,
                      note="link with the new profile, or accept more with --max-fault-change")


def _predict(args: argparse.Namespace) -> tuple[dict, "Callable[[Name], bytes]"]:
    """What starts of the program read, and what knows the file of a name."""
    from frontload.elf import file as elf
    from frontload.measure import described_start
    from frontload.profile.link_map import LinkMap

    old, new = (described_start.read(path, args.binary) for path in (args.old, args.new))
    link_map = LinkMap(args.map, elf.read(args.binary)) if args.map else None
    places = old.places | new.places

    def file_of(name: "Name") -> bytes:
        found = link_map.object_at(places[name]) if link_map and name in places else b""
        return found or name.file

    return described_start.compare(args.binary, old, new, file_of), file_of


def _document(args: argparse.Namespace, old: "Profile", new: "Profile", found: "Difference",
              file_of: "Callable[[Name], bytes]") -> dict:
    from frontload.profile import summary

    def entries(each: "Profile", names: "list[Name]") -> list[dict]:
        return [summary.entry(each, name) | {"file": summary.text(file_of(name)) or None}
                for name in names]

    def pairs(chosen: list) -> list[dict]:
        return [{"old": before, "new": after, "how": pair.how or None} for pair, before, after in
                zip(chosen, entries(old, [pair.old for pair in chosen]),
                    entries(new, [pair.new for pair in chosen]), strict=True)]

    document = {
        "schema": SCHEMA, "frontload": __version__,
        **{label: {"path": path, **{key: value for key, value in summary.describe(each).items()
                                    if key not in ("classes", "tiers")}, "left_out": left_out}
           for label, path, each, left_out in (("old", args.old, old, found.left_out[0]),
                                               ("new", args.new, new, found.left_out[1]))},
        "shared": len(found.shared),
        "overlap": {"names": 100 * found.overlap, "telling": found.telling, "bytes":
                    None if found.overlap_of_bytes is None else 100 * found.overlap_of_bytes},
        "gone": entries(old, found.gone), "come": entries(new, found.come),
        "renamed": pairs(found.renamed), "moved": pairs(found.moved)}
    counts = {label: Counter(_file(each) for each in document[label]) for label in ("gone", "come")}
    document["files"] = [
        {"file": None if file == _NO_FILE else file,
         **{label: each[file] for label, each in counts.items()}}
        for file in sorted(counts["gone"] | counts["come"], key=lambda file: (
            -sum(each[file] for each in counts.values()), file))]
    return document


def _file(described: dict) -> str:
    return described["file"] or _NO_FILE


def _show(document: dict, most: int | None) -> None:
    overlap = document["overlap"]
    for label in ("old", "new"):
        each = document[label]
        runs = sum(part["runs"] for part in each["generations"]) or each["runs"]
        print(f"{label}: {printable(each['path'])}, {printable(each['program'])}, "
              f"{count(each['names'], 'name')} from {count(runs, 'run')}")
    for label in ("old", "new"):
        if left_out := document[label]["left_out"]:
            print(f"not compared, because only the {label} profile has runs with data: "
                  f"{count(left_out, 'name')}")
    print(f"overlap of the names: {percent(overlap['names'], 100)}")
    print("overlap of the touched bytes: " + (
        "not known, because not both profiles tell them" if overlap["bytes"] is None else
        f"{percent(overlap['bytes'], 100)}, of {count(overlap['telling'], 'name')} that tell them"))
    print(f"shared {document['shared']:,}, " + ", ".join(
        f"{label} {len(document[label]):,}" for label in ("gone", "come", "renamed", "moved")))
    _show_files(document["files"], most)
    for label in ("gone", "come"):
        _list(label, document[label], most, lambda each: (
            f"{percent(each['runs'], each['of_runs']):>7} of runs  {_name(each)}"))
    _list("renamed", document["renamed"], most, lambda each: (
        f"{each['how']:7}  {_name(each['old'])} -> {_name(each['new'])}"))
    _list("moved", document["moved"], most, lambda each: (
        f"from {each['old']['rank']:,} to {each['new']['rank']:,}  {_name(each['new'])}"))
    if document["predicted"]:
        _show_predicted(document["predicted"], most)


def _name(each: dict) -> str:
    return each["name"] + (f"  ({each['file']})" if each["file"] else "")


def _list(label: str, chosen: list[dict], most: int | None, line: Callable[[dict], str]) -> None:
    """One line each, not a table: however long a name is, grep finds it in its line."""
    if chosen:
        print(f"{label}: {count(len(chosen), 'name')}")
    for each in chosen[:most]:
        print(f"  {printable(line(each))}")
    _and_more(len(chosen), most, "name")


def _and_more(total: int, most: int | None, noun: str) -> None:
    if most is not None and total > most:
        print(f"  and {count(total - most, 'other ' + noun)} (--all shows all)")


def _show_files(found: list[dict], most: int | None) -> None:
    if not found:
        return
    table = console.table("file", "gone", "come", numbers=(1, 2))
    for each in found[:most]:
        console.add_row(table, _file(each), f"{each['gone']:,}", f"{each['come']:,}")
    console.show(table)
    _and_more(len(found), most, "file")


def _show_predicted(predicted: dict, most: int | None) -> None:
    print(f"predicted for {printable(predicted['binary'])}:")
    table = console.table("a start as of", "names", "not found", "major faults", "MB read",
                          "requests", numbers=range(1, 6))
    for label in ("old", "new"):
        each = predicted[label]
        console.add_row(table, label, f"{each['names']:,}", f"{each['missing']:,}",
                        f"{each['major_faults']:,}", f"{each['read_bytes'] / 1e6:.2f}",
                        f"{each['requests']:,}")
    console.show(table)
    if predicted["files"]:
        table = console.table("file", "names with\nnew pages", "new\npages",
                              "major faults\nby these alone", numbers=range(1, 4))
        for each in predicted["files"][:most]:
            console.add_row(table, _file(each), f"{each['names']:,}", f"{each['pages']:,}",
                            f"{each['added']['major_faults']:+,}")
        console.show(table)
        others = len(predicted["files"][most or len(predicted["files"]):])
        if others + predicted["other_files"]:
            print(f"  and {count(others + predicted['other_files'], 'other file')}")
