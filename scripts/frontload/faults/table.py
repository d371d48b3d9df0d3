"""A recording of faults for people: the summary, the phases, the files, and the faults in order.

Everything comes from the document, so the tables agree with the JSON.
"""

import os
from collections.abc import Callable

import numpy as np

from frontload.base import console
from frontload.base.errors import count, printable
from frontload.faults.symbols import UNKNOWN, Functions, Sections
from frontload.faults.waits import DISK

_ACCESSES = {"x": "execute", "r": "read", "w": "write"}
_MAX_FILES = 20


def show(document: dict, most: int | None) -> None:
    """Prints the tables; at most `most` faults, all if it is None."""
    _summary(document)
    for part in (_phases, _files, _processes):
        part(document)
    if document["faults"] is not None and most != 0:
        _faults(document, most)
    _missing(document)


def _title(text: str) -> None:
    print(f"\n{text}:")


def _kib(size: int | None) -> str:
    return "" if size is None else f"{size / 1024:,.0f}"


def _ms(time: int | None) -> str:
    return "" if time is None else f"{time / 1e6:.3f}"


def _summary(document: dict) -> None:
    sample, recorder = document["sample"], document["recorder"]
    table = console.table("figure", "", "from", numbers=(1,))
    rows = [("major faults", f"{sample['major_faults']:,}", "rusage"),
            ("minor faults", f"{sample['minor_faults']:,}", "rusage")]
    if document["faults"] is not None:
        listed = np.array(document["faults"]["major"], dtype=bool)
        for kind, chosen in (("major", listed), ("minor", ~listed)):
            rows.append((f"{kind} faults listed below", f"{np.count_nonzero(chosen):,}",
                         f"{recorder['tool']}; not {recorder['before_exec'][kind]} before exec and "
                         f"{recorder['unlisted'][kind]} without an instruction"))
    if document["fills"] is not None:
        rows.append(("KiB filled into the page cache", _kib(sum(document["fills"]["bytes"])),
                     count(len(document["fills"]["bytes"]), "fill")))
    if document["requests"] is not None:
        rows.append(("KiB requested from devices", _kib(sum(document["requests"]["bytes"])),
                     count(len(document["requests"]["bytes"]), "request")))
    if sample["ready"] and sample["ready_ns"] < sample["wall_ns"]:
        rows.append(("ms until it was ready", _ms(sample["ready_ns"]), "the clock"))
    rows += [("ms until the end", _ms(sample["wall_ns"]), "the clock, with the recorder's work"),
             ("KiB of memory at most", f"{sample['max_rss_kib']:,}", "rusage")]
    if document["until"] and document["until"]["time_ns"] is not None:
        rows.append((f"ms until {document['until']['symbol']}",
                     _ms(document["until"]["time_ns"]), "a breakpoint"))
    for row in rows:
        console.add_row(table, *row)
    ended = f"signal {sample['signal']}" if sample["signal"] is not None \
        else f"exit status {sample['exit_status']}"
    print(printable(f"{document['variant']}, {document['condition']}; {ended}:"))
    console.show(table)


class _Columns:
    """The columns of the faults as arrays."""

    def __init__(self, document: dict):
        faults = document["faults"] or {"time_ns": [], "major": [], "file": [], "process": []}
        fills = document["fills"] or {"time_ns": [], "file": [], "bytes": [], "process": []}
        self.time = np.array(faults["time_ns"], dtype=np.int64)
        self.major = np.array(faults["major"], dtype=bool)
        self.file = np.array(faults["file"], dtype=np.int64)
        self.process = np.array(faults["process"], dtype=np.int64)
        self.fill_time = np.array(fills["time_ns"], dtype=np.int64)
        self.fill_file = np.array(fills["file"], dtype=np.int64)
        self.fill_bytes = np.array(fills["bytes"], dtype=np.int64)
        self.fill_process = np.array(fills["process"], dtype=np.int64)
        self._fills_known = document["fills"] is not None

    def cells(self, faults: np.ndarray, fills: np.ndarray) -> tuple[str, str, str]:
        """Major faults, minor faults and KiB filled among those chosen."""
        return (f"{np.count_nonzero(self.major[faults]):,}",
                f"{np.count_nonzero(~self.major[faults]):,}",
                _kib(int(self.fill_bytes[fills].sum())) if self._fills_known else "")


def _waited(waits: dict[str, int] | None) -> tuple[str, str]:
    """For how many ms no thread ran: for a disk, and for something else."""
    if waits is None:
        return "", ""
    disk = waits.get(DISK, 0)
    return _ms(disk), _ms(sum(waits.values()) - disk)


def _phases(document: dict) -> None:
    if not document["phases"]:
        return
    columns = _Columns(document)
    table = console.table("process", "phase", "from ms", "ms", "waits for disk", "for other",
                          "major faults", "minor faults", "KiB filled", numbers=range(2, 9))
    for phase in document["phases"]:
        start, end, number = phase["start_ns"], phase["end_ns"], phase["process"]
        process = document["processes"][number]
        console.add_row(table, f"{process['command']} ({process['pid']})", phase["name"],
                        _ms(start), _ms(end - start), *_waited(phase["waits_ns"]),
                        *columns.cells(
                            (columns.process == number) & (columns.time >= start)
                            & (columns.time < end),
                            (columns.fill_process == number) & (columns.fill_time >= start)
                            & (columns.fill_time < end)))
    _title("Phases of the start")
    console.show(table)


def _files(document: dict) -> None:
    if document["faults"] is None:
        return
    columns = _Columns(document)
    table = console.table("file", "size KiB", "major faults", "minor faults", "KiB filled",
                          numbers=range(1, 5))
    found = []
    for number, file in enumerate([*document["files"], None]):
        if file is None:
            number = -1
        faults, fills = columns.file == number, columns.fill_file == number
        if faults.any() or fills.any():
            weight = int(np.count_nonzero(columns.major[faults])), int(
                columns.fill_bytes[fills].sum()), int(np.count_nonzero(faults))
            name = "(no file, or one without a name)" if file is None else file["path"]
            found.append((weight, (name, "" if file is None else _kib(file["size"]),
                                   *columns.cells(faults, fills))))
    found.sort(key=lambda each: each[0], reverse=True)
    for _, row in found[:_MAX_FILES]:
        console.add_row(table, *row)
    _title("Files")
    console.show(table)
    if len(found) > _MAX_FILES:
        print(f"and {count(len(found) - _MAX_FILES, 'more file')} (--json lists all)")


def _processes(document: dict) -> None:
    if len(document["processes"]) < 2:
        return
    columns = _Columns(document)
    table = console.table("process", "pid", "from ms", "ms", "major faults", "minor faults",
                          "KiB filled", numbers=range(1, 7))
    for number, process in enumerate(document["processes"]):
        end = process["end_ns"]
        console.add_row(table, process["command"], process["pid"], _ms(process["start_ns"]),
                        _ms(None if end is None else end - process["start_ns"]),
                        *columns.cells(columns.process == number, columns.fill_process == number))
    _title("Processes")
    console.show(table)


def _faults(document: dict, most: int | None) -> None:
    faults = document["faults"]
    total = len(faults["time_ns"])
    shown = total if most is None else min(most, total)
    section = _once(lambda file: Sections(document["files"][file]["sections"],
                                          document["files"][file]["segments"]))
    function = _once(lambda file: Functions(document["files"][file]["path"],
                                            document["files"][file]["segments"]))
    table = console.table("ms", "fault", "access", "file", "offset", "section", "by", "thread",
                          numbers=(0, 4, 7))
    for row in range(shown):
        file, offset = faults["file"][row], faults["offset"][row]
        name = os.path.basename(document["files"][file]["path"]) if file >= 0 else "(no file)"
        code = faults["code_file"][row]
        by = "(kernel)" if faults["kernel"][row] else UNKNOWN
        if code >= 0:
            by = function(code).at(faults["code_offset"][row])
        console.add_row(table, _ms(faults["time_ns"][row]),
                        "major" if faults["major"][row] else "minor",
                        _ACCESSES.get(faults["access"][row], UNKNOWN), name,
                        f"{offset:#x}" if file >= 0 else f"at {faults['address'][row]:#x}",
                        section(file).at(offset, faults["access"][row] == "w") if file >= 0 else "",
                        by, faults["thread"][row])
    _title("Faults" if shown == total else f"The first {shown} of {total:,} faults (--all: all)")
    console.show(table)


def _once(make: Callable) -> Callable:
    """`make`, called once for each file."""
    made: dict[int, object] = {}

    def of(file: int):
        if file not in made:
            made[file] = make(file)
        return made[file]
    return of


def _missing(document: dict) -> None:
    if not document["missing"]:
        return
    table = console.table("not recorded", "why", "what would give it")
    for missing in document["missing"]:
        console.add_row(table, missing["what"], missing["why"], missing["remedy"])
    print()
    console.show(table)
