"""What is in traces, startup profiles and prefetch lists, printed."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from frontload import __version__
from frontload.base import console, files
from frontload.base.errors import EXIT_USAGE, BadData, count, percent, printable

if TYPE_CHECKING:
    from frontload.profile import summary, touch_names
    from frontload.reading import listing

SCHEMA = "frontload-show/1"
TRACE, PROFILE, LIST = "trace", "startup profile", "prefetch list"
_MAX_FILES = 15  # in a prefetch list's table
_UNKNOWN = "not known"
_NO_LABEL = "(no label)"


def show(given: Sequence[str], *, lists_all: bool, json: str | None) -> None:
    """Prints what is in files, `json` being the file for a document of it. `lists_all`: with their
    entries."""
    from frontload.profile import trace

    paths = trace.expand(given, code=EXIT_USAGE)
    if json:
        files.write_json(json, {
            "schema": SCHEMA, "frontload": __version__, "files": [
                {"path": path, "is": kind, **described,
                 **({"all": list(entries)} if lists_all else {})}
                for path in paths
                for kind, described, entries in [_describe(path)]]})
    if json != files.STDOUT:
        for number, path in enumerate(paths):
            kind, described, entries = _describe(path)
            of, show_tables = _SHOW[kind]
            print("\n" * bool(number) + f"{printable(path)}: {kind} of {of(described)}")
            show_tables(described)
            if lists_all:
                _list(kind, entries)


def _describe(path: str) -> tuple[str, Mapping[str, Any], Iterable[object]]:
    """The kind and summary of a file, and its entries."""
    from frontload.profile import format as profile
    from frontload.profile import summary, touch_names, trace
    from frontload.reading import listing

    with files.open_input(path, note="make a trace with: frontload record -- COMMAND") as stream:
        start = stream.read(64)
    if start.startswith(trace.MAGIC):
        read = trace.read(path)
        return TRACE, touch_names.describe(read), touch_names.touches(read)
    if start.startswith(profile.MAGIC):
        startup = profile.read(path)
        return PROFILE, summary.describe(startup), summary.entries(startup)
    if start.startswith(listing.MAGIC):
        found = listing.read(path)
        return LIST, listing.describe(found), listing.entries(found)
    raise BadData(path, "is empty" if not start else
                  "is neither a trace, nor a startup profile, nor a prefetch list", offset=0,
                  note="frontload record makes traces, frontload profile startup profiles, and "
                  "frontload files prefetch lists")


def _of_trace(document: "touch_names.Summary") -> str:
    program = "a program that it does not name"
    if document["program"] is not None:
        program = printable(os.path.basename(document["program"]))
    return f"{program}, process {document['pid']}"


def _show_trace(document: "touch_names.Summary") -> None:
    if document["run"]:
        print(f"run: {document['run']}" + (", forked" if document["forked"] else ""))
    if document["role"]:
        print(f"role: {document['role']}")
    print(f"first touches: {document['touches']:,}")
    for lost, why in ((document["dropped"], "the recorder had no room for them"),
                      (document["ownerless"], "the record of their module is incomplete")):
        if lost:
            print(f"lost, because {why}: {lost:,}")
    kinds = [kind for kind, number in document["kinds"].items() if number]
    table = console.table("module", "touches", *kinds, "build-id", numbers=range(1, 2 + len(kinds)))
    for module in document["modules"]:
        console.add_row(table, module["path"] + " (program)" * module["main"],
                        f"{module['touches']:,}",
                        *(f"{module['kinds'][kind]:,}" for kind in kinds),
                        module["build_id"] or "none")
    console.show(table)


def _show_profile(document: "summary.Summary") -> None:
    runs = f"runs: {document['runs']:,}"
    if document["generations"]:
        recorded = sum(each["runs"] for each in document["generations"])
        runs += f" by their age ({recorded:,} recorded)"
    print(runs + (f", {document['data_runs']:,} of them with data" if document["data_runs"]
                  else ", none of them with data"))
    print(f"names: {document['names']:,}")
    print(f"touched bytes: {_bytes(document)}"
          + (f", of {count(document['telling'], 'name')} of which a run tells"
             if document["telling"] else ", because only record --data tells them"))
    if document["basic_blocks"]["functions"]:
        print(f"basic blocks: {document['basic_blocks']['touched']:,} touched, of "
              + count(document["basic_blocks"]["functions"], "function"))
    if document["generations"]:
        print(f"generations: {len(document['generations'])}; a run of each counts as two of the "
              "one before, so that one of the oldest counts as one")
    if not document["knows_cold_parts"]:
        print("cold parts: not known, because a run was of a build that collects a compiler's "
              "profile")
    if document["generations"]:
        table = console.table("generation", "runs", "with data", "names last seen",
                              numbers=range(1, 4))
        for kept in document["generations"]:
            console.add_row(table, kept["label"] or _NO_LABEL, f"{kept['runs']:,}",
                            f"{kept['data_runs']:,}", f"{kept['last_seen']:,}")
        console.show(table)
    table = console.table("kind", "class", "names", "touched bytes", numbers=range(2, 4))
    for each in document["classes"]:
        console.add_row(table, each["kind"], each["class"], f"{each['names']:,}", _bytes(each))
    console.show(table)
    table = console.table("touched by", "names", "share", "touched bytes", numbers=range(1, 4))
    for tier in document["tiers"]:
        console.add_row(table, tier["touched_by"], f"{tier['names']:,}",
                        percent(tier["names"], document["names"]),
                        _bytes(tier) if tier["names"] else "")
    console.show(table)


def _bytes(described: "summary.Sums | summary.SumsOfClass") -> str:
    return _UNKNOWN if described["touched_bytes"] is None else f"{described['touched_bytes']:,}"


def _show_list(document: "listing.Summary") -> None:
    print(f"files: {len(document['files']):,}")
    print(f"touched bytes: {document['touched_bytes']:,}")
    table = console.table("file", "touched bytes", "in every run", "of bytes", "ranges",
                          numbers=range(1, 5))
    for file in document["files"][:_MAX_FILES]:
        console.add_row(table, console.path(file["path"]), f"{file['touched_bytes']:,}",
                        f"{file['every_run_bytes']:,}", f"{file['size']:,}", f"{file['ranges']:,}")
    console.show(table)
    if len(document["files"]) > _MAX_FILES:
        print(f"and {count(len(document['files']) - _MAX_FILES, 'other file')}")


# For each kind of file its columns: a heading, a width (negative: to the left), and the cell. Names
# come last, because they may be of any length.
_COLUMNS = {
    TRACE: (("kind", -8, lambda each: each["kind"]),
            ("address", 14, lambda each: f"{each['address']:#x}"),
            ("module", -1, lambda each: each["module"])),
    PROFILE: (("rank", 8, lambda each: each["rank"]),
              ("runs", 8, lambda each: each["runs"]),
              ("share", 7, lambda each: percent(each["runs"], each["of_runs"])),
              ("bytes", 9, lambda each: each["touched_bytes"] or "-"),
              ("kind", -8, lambda each: each["kind"]),
              ("class", -6, lambda each: each["class"]),
              ("name", -1, lambda each: each["name"]
               + (f"  ({each['file']})" if each["file"] else ""))),
    LIST: (("rank", 8, lambda each: each["rank"]),
           ("runs", 8, lambda each: each["runs"]),
           ("how", -4, lambda each: each["how"]),
           ("offset", 12, lambda each: each["offset"]),
           ("bytes", 9, lambda each: each["bytes"]),
           ("path", -1, lambda each: each["path"])),
}


def _list(what: str, entries: Iterable[object]) -> None:
    """One line each, not a table: grep and awk find a name in its line."""
    columns = _COLUMNS[what]

    def show(cells: Iterable[object]) -> None:
        print(printable("  ".join(f"{cell:{'<' if width < 0 else '>'}{abs(width)}}" for cell,
                                  (_, width, _) in zip(cells, columns, strict=True))))

    show(heading for heading, _, _ in columns)
    for each in entries:
        show(cell(each) for _, _, cell in columns)


# For each kind of file its text in the heading, and its tables.
_SHOW: dict[str, tuple[Callable[[Any], str], Callable[[Any], None]]] = {
    TRACE: (_of_trace, _show_trace),
    PROFILE: (lambda document: printable(document["program"]), _show_profile),
    LIST: (lambda document: count(document["runs"], "run"), _show_list)}
