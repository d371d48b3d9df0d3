"""A recording of faults for people: the summary, the phases, the files, and the faults in order.

Everything comes from the document, so the tables agree with the JSON.
"""

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from frontload.base import console
from frontload.base.arrays import np
from frontload.base.errors import Failure, count, printable
from frontload.elf import file as elves
from frontload.elf.section_names import NO_SECTION
from frontload.faults import waits
from frontload.faults.document import Document, Faults
from frontload.faults.files import File
from frontload.profile.symbol_names import SymbolNames, names_of

if TYPE_CHECKING:
    from rich.table import Table

_ACCESSES = {"x": "execute", "r": "read", "w": "write"}
_UNKNOWN = "?"
_BSS = ".bss"
_COUNTED = "major\nfaults", "minor\nfaults", "KiB\nfilled"
_MAX_FILES = 20
_EVER = 1 << 62


def show(document: Document, most: int | None) -> None:
    """Prints the tables; at most `most` faults, all if it is None."""
    sample = document["sample"]
    ended = f"signal {sample['signal']}" if sample["signal"] is not None \
        else f"exit status {sample['exit_status']}"
    print(printable(f"{document['variant']}, {document['condition']}; {ended}:"))
    console.show(_summary(document))
    seen = _Counts(document)
    if document["phases"]:
        print("\nPhases of the start:")
        console.show(_phases(document, seen))
    if document["faults"] is not None:
        rows = _files(document, seen)
        print("\nFiles:")
        console.show(_table("file", "size KiB", *_COUNTED, rows=rows[:_MAX_FILES],
                            numbers=range(1, 5), cut=(0,)))
        if len(rows) > _MAX_FILES:
            print(f"and {count(len(rows) - _MAX_FILES, 'more file')} (--json lists all)")
    if (faults := document["faults"]) is not None and most != 0:
        total = len(faults["time_ns"])
        shown = total if most is None else min(most, total)
        print("\nFaults:" if shown == total
              else f"\nThe first {shown} of {total:,} faults (--all: all):")
        console.show(_faults(faults, document["files"], shown))
        if console.is_narrow():
            print("(a wider terminal also shows offsets and threads)")
    if document["missing"]:
        print()
        console.show(_table("not recorded", "why", "what would give it", rows=[
            (each["what"], each["why"], each["remedy"]) for each in document["missing"]]))


def _table(*columns: str, rows: list[tuple], numbers: range | tuple[int, ...] = (),
           cut: tuple[int, ...] = ()) -> "Table":
    table = console.table(*columns, numbers=numbers, cut=cut)
    for row in rows:
        console.add_row(table, *row)
    return table


def _kib(size: int | None) -> str:
    return "" if size is None else f"{size / 1024:,.0f}"


def _ms(time: int | None) -> str:
    return "" if time is None else f"{time / 1e6:.3f}"


def _summary(document: Document) -> "Table":
    sample, recorder = document["sample"], document["recorder"]
    rows = [("major faults", f"{sample['major_faults']:,}", "rusage"),
            ("minor faults", f"{sample['minor_faults']:,}", "rusage")]
    if document["faults"] is not None:
        major, unlisted = sum(document["faults"]["major"]), recorder["unlisted"] or {}
        for kind, number in (("major", major),
                             ("minor", len(document["faults"]["major"]) - major)):
            rows.append((f"{kind} faults listed below", f"{number:,}",
                         f"{recorder['tool']}; not {recorder['before_exec'][kind]} before exec and "
                         f"{unlisted[kind]} without an instruction"))
    for table, label, noun in ((document["fills"], "KiB filled into the page cache", "fill"),
                               (document["requests"], "KiB requested from devices", "request")):
        if table is not None:
            rows.append((label, _kib(sum(table["bytes"])), count(len(table["bytes"]), noun)))
    if sample["ready"] and sample["ready_ns"] < sample["wall_ns"]:
        rows.append(("ms until it was ready", _ms(sample["ready_ns"]), "the clock"))
    rows += [("ms until the end", _ms(sample["wall_ns"]), "the clock, with the recorder's work"),
             ("KiB of memory at most", f"{sample['max_rss_kib']:,}", "rusage")]
    if document["until"] and document["until"]["time_ns"] is not None:
        rows.append((f"ms until {document['until']['symbol']}",
                     _ms(document["until"]["time_ns"]), "a breakpoint"))
    return _table("figure", "", "from", rows=rows, numbers=(1,))


class _Counts:
    """The faults and fills of a document, to be counted."""

    def __init__(self, document: Document):
        tables: tuple[Mapping[str, object] | None, ...] = document["faults"], document["fills"]
        self._faults, self._fills = (
            {key: np.array((table or {}).get(key, ()), dtype=np.int64)
             for key in ("time_ns", "file", "process", counted)}
            for table, counted in zip(tables, ("major", "bytes"), strict=True))
        self._fills_known = document["fills"] is not None

    def of(self, owner: str, number: int, start: int = 0, end: int = _EVER
           ) -> tuple[int, int, int]:
        """Major faults, minor faults and bytes filled of one `process` or `file` in a time."""
        major, filled = (table[counted][(table[owner] == number) & (table["time_ns"] >= start)
                                        & (table["time_ns"] < end)]
                         for table, counted in ((self._faults, "major"), (self._fills, "bytes")))
        return int(major.sum()), int((major == 0).sum()), int(filled.sum())

    def cells(self, owner: str, number: int, start: int = 0, end: int = _EVER
              ) -> tuple[str, str, str]:
        major, minor, filled = self.of(owner, number, start, end)
        return f"{major:,}", f"{minor:,}", _kib(filled) if self._fills_known else ""


def _phases(document: Document, seen: _Counts) -> "Table":
    """The phases of each process below a row with its name."""
    rows: list[tuple] = []
    last = None
    for phase in document["phases"]:
        start, end, number = phase["start_ns"], phase["end_ns"], phase["process"]
        if number != last:
            process = document["processes"][number]
            rows.append((f"{process['command']} ({process['pid']})", *[""] * 7))
        last = number
        rows.append((f"  {phase['name']}", _ms(start), _ms(end - start),
                     *map(_ms, waits.split(phase["waits_ns"])),
                     *seen.cells("process", number, start, end)))
    return _table("process, phase", "from ms", "ms", "waits\nfor disk", "for\nother", *_COUNTED,
                  rows=rows, numbers=range(1, 8), cut=(0,))


def _files(document: Document, seen: _Counts) -> list[tuple]:
    """A row for each file with faults or fills, those with the most major faults first."""
    found = []
    for number, file in enumerate([*document["files"], None]):
        number = -1 if file is None else number
        major, minor, filled = seen.of("file", number)
        if major or minor or filled:
            name, size = ("(no file, or one without a name)", None) if file is None \
                else (console.path(file["path"]), file["size"])
            found.append(((major, filled, major + minor),
                          (name, _kib(size), *seen.cells("file", number))))
    return [row for _, row in sorted(found, key=lambda each: each[0], reverse=True)]


def _faults(faults: Faults, files: list[File], shown: int) -> "Table":
    """A narrow terminal has no room for offsets and threads."""
    rows = []
    wide = not console.is_narrow()
    for row in range(shown):
        place, offset, access = faults["file"][row], faults["offset"][row], faults["access"][row]
        file = files[place] if place >= 0 else None
        code = faults["code_file"][row]
        by = "(kernel)" if faults["kernel"][row] else _UNKNOWN if code < 0 else \
            function_at(files[code], faults["code_offset"][row])
        rows.append((_ms(faults["time_ns"][row]), "major" if faults["major"][row] else "minor",
                     _ACCESSES.get(access, _UNKNOWN),
                     os.path.basename(file["path"]) if file else "(no file)",
                     *([f"{offset:#x}" if file else f"at {faults['address'][row]:#x}"]
                       if wide else []),
                     section_at(file, offset, access == "w") if file else "", by,
                     *([faults["thread"][row]] if wide else [])))
    if wide:
        return _table("ms", "fault", "access", "file", "offset", "section", "by", "thread",
                      rows=rows, numbers=(0, 4, 7), cut=(3, 6))
    return _table("ms", "fault", "access", "file", "section", "by", rows=rows, numbers=(0,),
                  cut=(3, 5))


def section_at(file: File, offset: int, written: bool) -> str:
    """The section at an offset of a file. The last page of the data is mapped whole, and cleared
    behind the data: what is written there is .bss, whatever the file has there."""
    for segment in file["segments"]:
        end, page = segment["offset"] + segment["file_bytes"], file["page_size"]
        if written and "w" in segment["flags"] and segment["memory_bytes"] > segment["file_bytes"] \
                and end <= offset < -(-end // page) * page:
            return _BSS
    return next((section["name"] for section in file["sections"]
                 if section["offset"] <= offset < section["offset"] + section["size"]), NO_SECTION)


def function_at(file: File, offset: int) -> str:
    names = _names(file["path"])
    for segment in file["segments"]:
        if names and segment["offset"] <= offset < segment["offset"] + segment["file_bytes"]:
            address = segment["address"] + offset - segment["offset"]
            group = int(names.ranges.innermost(np.array([address], np.uint64))[0])
            if group >= 0:
                return names.symbol_name(group).decode(errors="backslashreplace")
    return _UNKNOWN


@cache
def _names(path: str) -> SymbolNames | None:
    try:
        return names_of(elves.read(path))
    except (Failure, OSError):
        return None
