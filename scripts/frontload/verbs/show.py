"""frontload show: says in plain text what is in a trace, a startup profile or a reading list."""

import argparse
import os
from collections.abc import Iterable

from frontload import __version__
from frontload.base import console, errors, files
from frontload.base.errors import EXIT_OK, BadData, Failure, count, percent, printable
from frontload.cli.arguments import add_json

SCHEMA = "frontload-show/1"
TRACE, PROFILE, LIST = "trace", "startup profile", "reading list"
DESCRIPTION = """\
Show what is in traces, startup profiles and reading lists. A trace has the modules of one process,
with how much it touched in each; a profile has names, by kind, class and how many of the runs touch
them; a reading list has files.

With --all, show lists everything as well, a line each, in the order of first touch: what a process
touched, the entries of a profile, the ranges of a reading list. Names stand last in a line, as the
linker knows them; c++filt makes them readable. A trace has addresses. They get their names from the
binaries that were recorded, as far as these are there unchanged.
"""
EXAMPLES = """\
# see what a process recorded, and what a profile has
frontload show traces
frontload show app.startup
# list the names of a profile in their order, as people write them
frontload show --all app.startup | c++filt
# list what was touched, with the names of a program that was moved
frontload show --all --binary app traces
# count what each module of each trace touched, for a script
frontload show --json - traces
"""
_MOST_FILES = 15  # of a reading list's table
_UNKNOWN = "not known"


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser("show", description=DESCRIPTION, examples=EXAMPLES)
    parser.add_argument("files", metavar="FILE", nargs="+", help="a trace, a startup profile, a "
                        "reading list, or a folder of traces")
    parser.add_argument("--all", action="store_true",
                        help="also list all touches, entries or ranges")
    parser.add_argument("--binary", metavar="PATH", help="the recorded program, if it is no longer "
                        "where it was recorded; for --all")
    add_json(parser, before_files=True)
    return parser


def run(args: argparse.Namespace) -> int:
    # Imported here because numpy takes a while, which --help need not pay.
    from frontload.profile import trace

    described = (_describe(path, args) for path in trace.expand(args.files))
    if args.json:
        described = list(described)  # before anything is written
        files.write_json(args.json, {"schema": SCHEMA, "frontload": __version__,
                                     "files": described})
    if args.json != files.STDOUT:
        for number, document in enumerate(described):
            print("\n" * bool(number) + f"{printable(document['path'])}: {document['is']} of "
                  + _of(document))
            _SHOW[document["is"]](document)
    return EXIT_OK


def _describe(path: str, args: argparse.Namespace) -> dict:
    from frontload.profile import format as profile
    from frontload.profile import summary, touch_names, trace
    from frontload.reading import listing
    from frontload.reading import summary as reading

    with files.open_input(path, note="make a trace with: frontload record -- COMMAND") as stream:
        start = stream.read(64)
    if start.startswith(trace.MAGIC):
        read = trace.read(path)
        return {"path": path, "is": TRACE, **touch_names.describe(read), **(
            {"all": list(touch_names.touches(read, _Binaries(read, args.binary).of))}
            if args.all else {})}
    if start.startswith(profile.MAGIC):
        startup = profile.read(path)
        return {"path": path, "is": PROFILE, **summary.describe(startup), **(
            {"all": list(summary.entries(startup))} if args.all else {})}
    if start.startswith(listing.MAGIC):
        found = listing.read(path)
        return {"path": path, "is": LIST, **reading.describe(found), **(
            {"all": list(reading.ranges(found))} if args.all else {})}
    raise BadData(path, "is empty" if not start else
                  "is neither a trace, nor a startup profile, nor a reading list", offset=0,
                  note="frontload record makes traces, frontload profile startup profiles, and "
                  "frontload files reading lists")


class _Binaries:
    """What the modules of a trace are now. The `given` binary is the main program, and has to be
    the one that was recorded; another that is not there, or has changed, only has no names."""

    def __init__(self, trace, given: str | None):
        from frontload.profile import binaries

        self._trace = trace.path
        self._given = binaries.Binaries(given) if given else None
        self._recorded = binaries.Binaries(None)

    def of(self, module):
        if module.main and self._given:
            return self._given.of(module, self._trace).linked
        try:
            return self._recorded.of(module, self._trace).linked
        except Failure as problem:
            errors.warning(f"{problem}: its touches have addresses only")
            return None


def _of(document: dict) -> str:
    if document["is"] == LIST:
        return count(document["runs"], "run")
    if document["is"] == PROFILE:
        return printable(document["program"])
    program = "a program that it does not name"
    if document["program"] is not None:
        program = printable(os.path.basename(document["program"]))
    return f"{program}, process {document['pid']}"


def _show_trace(document: dict) -> None:
    if document["run"]:
        print(f"run: {document['run']}" + (", forked" if document["forked"] else ""))
    if document["role"]:
        print(f"role: {document['role']}")
    print(f"first touches: {document['touches']:,}")
    for key, why in (("dropped", "the recorder had no room for them"),
                     ("ownerless", "the record of their module is incomplete")):
        if document[key]:
            print(f"lost, because {why}: {document[key]:,}")
    kinds = [kind for kind, number in document["kinds"].items() if number]
    table = console.table("module", "touches", *kinds, "build-id", numbers=range(1, 2 + len(kinds)))
    for module in document["modules"]:
        console.add_row(table, module["path"] + " (program)" * module["main"],
                        f"{module['touches']:,}",
                        *(f"{module['kinds'][kind]:,}" for kind in kinds),
                        module["build_id"] or "none")
    console.show(table)
    _list(document, f"{'kind':8}  {'address':>14}  module  name",
          (f"{each['kind']:8}  {each['address']:#14x}  {each['module']}  "
           f"{', '.join(each['names']) or '-'}" for each in document.get("all", ())))


def _show_profile(document: dict) -> None:
    runs = f"runs: {document['runs']:,}"
    print(runs + (f", {document['data_runs']:,} of them with data" if document["data_runs"]
                  else ", none of them with data"))
    print(f"names: {document['names']:,}")
    print(f"touched bytes: {_bytes(document)}"
          + (f", of {count(document['telling'], 'name')} of which a run tells"
             if document["telling"] else ", because only record --data tells them"))
    if not document["knows_cold_parts"]:
        print("cold parts: not known, because a run was of a build that collects a compiler's "
              "profile")
    table = console.table("kind", "class", "names", "touched bytes", numbers=range(2, 4))
    for each in document["classes"]:
        console.add_row(table, each["kind"], each["class"], f"{each['names']:,}", _bytes(each))
    console.show(table)
    table = console.table("touched by", "names", "share", "touched bytes", numbers=range(1, 4))
    for each in document["tiers"]:
        console.add_row(table, each["touched_by"], f"{each['names']:,}",
                        percent(each["names"], document["names"]),
                        _bytes(each) if each["names"] else "")
    console.show(table)
    _list(document, f"{'rank':>8}  {'runs':>8}  {'share':>7}  {'bytes':>9}  {'kind':8}  "
          f"{'class':6}  name",
          (f"{each['rank']:8}  {each['runs']:8}  {percent(each['runs'], each['of_runs']):>7}  "
           f"{each['touched_bytes'] or '-':>9}  {each['kind']:8}  {each['class']:6}  "
           f"{each['name']}" + (f"  ({each['file']})" if each["file"] else "")
           for each in document.get("all", ())))


def _bytes(described: dict) -> str:
    return _UNKNOWN if described["touched_bytes"] is None else f"{described['touched_bytes']:,}"


def _show_list(document: dict) -> None:
    print(f"files: {len(document['files']):,}")
    print(f"touched bytes: {document['touched_bytes']:,}")
    table = console.table("file", "touched bytes", "in every run", "of bytes", "ranges",
                          numbers=range(1, 5))
    shown = document["files"] if "all" in document else document["files"][:_MOST_FILES]
    for file in shown:
        console.add_row(table, file["path"], f"{file['touched_bytes']:,}",
                        f"{file['every_run_bytes']:,}", f"{file['size']:,}", f"{file['ranges']:,}")
    console.show(table)
    if len(shown) < len(document["files"]):
        print(f"and {count(len(document['files']) - len(shown), 'other file')} (--all shows all)")
    _list(document, f"{'rank':>8}  {'runs':>8}  {'how':4}  {'offset':>12}  {'bytes':>9}  path",
          (f"{each['rank']:8}  {each['runs']:8}  {each['how']:4}  {each['offset']:12}  "
           f"{each['bytes']:9}  {each['path']}" for each in document.get("all", ())))


def _list(document: dict, heading: str, lines: Iterable[str]) -> None:
    """One line each, not a table: however long a name is, grep and awk find it in its line."""
    if "all" in document:
        print(heading)
        for line in lines:
            print(printable(line))


_SHOW = {TRACE: _show_trace, PROFILE: _show_profile, LIST: _show_list}
