"""Reads a recorded start: a file of the schema frontload-faults/1, as `frontload faults` writes it.

Such a file may come from another machine and is not trusted: the parts that the report uses are
checked here, once, and errors give their place in the JSON (`faults.file[17]`). Memory grows with
the size of the file and not with its claims: a residency stays a list of runs.
"""

import os
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from frontload.base import documents, files
from frontload.base.documents import MAX_NUMBER, Number, Part, Text, shown
from frontload.base.errors import BadData
from frontload.report.spans import Spans

SCHEMA = "frontload-faults/1"
ACCESSES = "xrw?"
_MAKE_ONE = "make one with: frontload faults --json FILE -- COMMAND"


class Section(Part):
    name: Text
    offset: Number
    size: Number
    address: Number


class Segment(Part):
    address: Number
    offset: Number
    file_bytes: Number
    memory_bytes: Number
    flags: Text  # as r-x

    def holds(self, offset: np.ndarray) -> np.ndarray:
        return (offset >= self.offset) & (offset - self.offset < self.file_bytes)


@dataclass(frozen=True)
class File:
    """A file that was mapped or read. `read`: what the start brought into the page cache; None if
    neither residency nor fills show it."""

    path: str
    size: int
    build_id: str
    read_ahead_kib: int | None
    page_size: int
    sections: list[Section]
    segments: list[Segment]
    read: Spans | None

    @property
    def name(self) -> str:
        return os.path.basename(self.path) or self.path


class Process(Part):
    pid: Number
    parent: Number | None = None
    command: Text
    start_ns: Number
    end_ns: Number | None = None


class Phase(Part):
    process: Number
    name: Text
    start_ns: Number
    end_ns: Number | None = None
    waits_ns: dict[Text, Number] | None = None  # by reason


@dataclass(frozen=True)
class Table:
    """Columns of equal length, in order of time. A column that was not recorded is missing."""

    columns: dict[str, np.ndarray]
    length: int

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return self.length


@dataclass(frozen=True)
class Recording:
    """One recorded start."""

    path: str  # of the JSON
    variant: str
    command: list[str]
    condition: str
    host: dict
    missing: list[dict[str, str]]
    lost: int
    wall_ns: int | None
    max_rss_bytes: int | None
    files: list[File]
    processes: list[Process]
    phases: list[Phase]
    faults: Table
    fills: Table | None
    requests: Table | None
    main: int | None = field(default=None)  # the file of the program itself
    # The kernel's own totals if the faults were not recorded one by one, else None.
    totals: dict[str, int | None] | None = field(default=None)
    # Faults that the kernel counted beside the recorded ones.
    unlisted: dict[str, int] = field(default_factory=dict)
    device: str | None = field(default=None)  # the kind that it was slowed down to, if any


def read(path: os.PathLike | str) -> Recording:
    """Reads a recorded start; bad contents raise BadData."""
    with files.open_input(path, note=_MAKE_ONE) as stream:
        data = stream.read()
    return parse(data, path)


def parse(data: bytes, path: os.PathLike | str) -> Recording:
    """The start in `data`; `path` is for the messages."""
    value = files.parse_json(data, path, _MAKE_ONE)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise BadData(path, f"not a recorded start (schema {SCHEMA})", note=_MAKE_ONE)
    # Empty objects do for these.
    value |= {key: {} for key in ("sample", "host", "recorder") if type(value.get(key)) is not dict}
    document = documents.checked(_Document, value, path, _MAKE_ONE)
    return _Reader(os.fspath(path), document).recording()


class _File(Part):
    path: Text
    size: Number
    page_size: Number
    build_id: Text | None = None
    read_ahead_kib: Number | None = None
    sections: list[Section]
    segments: list[Segment]
    before: Text | None = None
    after: Text | None = None


class _Table(Part):
    CALLED: ClassVar[str] = "a table of columns"

    time_ns: list


class _Faults(_Table):
    major: list
    file: list
    offset: list
    code_file: list | None = None
    code_offset: list | None = None
    process: list
    thread: list
    kernel: list | None = None
    access: Text | None = None


class _Fills(_Table):
    file: list
    offset: list
    bytes: list
    process: list
    thread: list


class _Requests(_Table):
    bytes: list


class _Sample(Part):
    wall_ns: Number | None = None
    max_rss_kib: Number | None = None
    major_faults: Number | None = None
    minor_faults: Number | None = None


class _Recorder(Part):
    lost: Number | None = None
    unlisted: object = None


class _Device(Part):
    name: Text
    description: Text
    read_ahead_kib: Number | None = None


class _Lack(Part):
    what: Text
    why: Text
    remedy: Text


class _Document(Part):
    variant: Text
    command: list[Text]
    condition: Text
    host: dict
    missing: list[_Lack]
    recorder: _Recorder
    sample: _Sample
    device: _Device | None = None
    files: list[_File]
    processes: list[Process]
    phases: list[Phase]
    faults: _Faults | None = None
    fills: _Fills | None = None
    requests: _Requests | None = None


class _Reader:
    """Checks the parts of a document against each other, and makes its recording."""

    def __init__(self, path: str, document: _Document):
        self._path = path
        self._document = document

    def _bad(self, place: str, what: str) -> BadData:
        return documents.bad(self._path, place, what, _MAKE_ONE)

    def recording(self) -> Recording:
        document, sample = self._document, self._document.sample
        if not document.command:
            raise self._bad("command", "is not a list of texts")
        found = [self._file(file, f"files[{number}]")
                 for number, file in enumerate(document.files)]
        self._check_processes()
        fills = None if document.fills is None else self._table(document.fills, "fills", least=-1)
        found = [_with_fills(file, number, fills) for number, file in enumerate(found)]
        rss = sample.max_rss_kib
        return Recording(
            path=self._path, variant=document.variant, command=document.command,
            condition=document.condition,
            host={key: value for key, value in document.host.items() if type(value) in (str, int)},
            missing=[dict(lack) for lack in document.missing], lost=document.recorder.lost or 0,
            wall_ns=sample.wall_ns, max_rss_bytes=None if rss is None else rss * 1024,
            files=found, processes=document.processes, phases=document.phases,
            # None are as good as an empty table; `missing` has the reason.
            faults=self._table(document.faults or _NO_FAULTS, "faults", least=-1), fills=fills,
            requests=None if document.requests is None else self._table(document.requests,
                                                                        "requests"),
            main=_main_file(document.command, found),
            totals=None if document.faults is not None else {
                "major_faults": sample.major_faults, "minor_faults": sample.minor_faults},
            unlisted=self._unlisted(), device=_described(document.device))

    def _unlisted(self) -> dict[str, int]:
        """Below 0 there are none: a child that was not waited for is listed and not counted."""
        value = self._document.recorder.unlisted
        found = {}
        for kind, number in value.items() if isinstance(value, dict) else ():
            if type(number) is not int or number > MAX_NUMBER:
                raise self._bad(f"recorder.unlisted.{kind}", f"{shown(number)} is not a number")
            found[kind] = max(number, 0)
        return found

    def _file(self, file: _File, place: str) -> File:
        if file.page_size < 512 or file.page_size & (file.page_size - 1):
            raise self._bad(f"{place}.page_size", f"{file.page_size} is not a page size")
        before, after = (self._spans(text, f"{place}.{key}", file)
                         for key, text in (("before", file.before), ("after", file.after)))
        return File(
            path=file.path, size=file.size, build_id=file.build_id or "",
            read_ahead_kib=file.read_ahead_kib, page_size=file.page_size, sections=file.sections,
            segments=file.segments,
            read=None if after is None or before is None else after - before)

    def _check_processes(self) -> None:
        for number, process in enumerate(self._document.processes):
            if process.parent is not None and process.parent >= number:
                raise self._bad(f"processes[{number}].parent",
                                f"{process.parent} is not an earlier process")
        for number, phase in enumerate(self._document.phases):
            if phase.process >= len(self._document.processes):
                raise self._bad(f"phases[{number}].process",
                                f"there is no process {phase.process}")

    def _table(self, table: _Table, name: str, *, least: int = 0) -> Table:
        """Columns of whole numbers from `least` to each one's limit, sorted by time; the column of
        accesses is strings."""
        last_file = len(self._document.files) - 1
        limits = {"major": 1, "kernel": 1, "file": last_file, "code_file": last_file,
                  "process": len(self._document.processes) - 1}
        columns: dict[str, np.ndarray] = {}
        for key, column in table:
            place = f"{name}.{key}"
            if isinstance(column, str):
                if not set(column) <= set(ACCESSES):
                    raise self._bad(place, f"is not a text of {ACCESSES}")
                columns[key] = np.array(list(column), "U1")
            elif column is not None:
                columns[key] = self._column(column, place, least, limits.get(key, MAX_NUMBER))
        length = len(columns["time_ns"])
        for key, column in columns.items():
            if len(column) != length:
                raise self._bad(f"{name}.{key}", f"has {len(column)} rows, not the {length} of "
                                "time_ns")
        order = np.argsort(columns["time_ns"], kind="stable")
        return Table({key: column[order] for key, column in columns.items()}, length)

    def _column(self, column: list, place: str, least: int, limit: int) -> np.ndarray:
        # Not in the model: there are hundreds of thousands, with limits for each column.
        for row, value in enumerate(column):
            if type(value) is not int or not least <= value <= limit:
                raise self._bad(f"{place}[{row}]", f"{shown(value)} is not a whole number from "
                                f"{least} to {limit}")
        return np.array(column, np.int64)

    def _spans(self, text: str | None, place: str, file: _File) -> Spans | None:
        if text is None:
            return None
        try:
            return Spans.from_text(text, file.page_size, file.size)
        except ValueError as problem:
            raise self._bad(place, str(problem)) from problem


_NO_FAULTS = _Faults(time_ns=[], major=[], file=[], offset=[], process=[], thread=[],
                     code_file=[], code_offset=[], kernel=[])


def _described(device: _Device | None) -> str | None:
    if device is None:
        return None
    ahead = device.read_ahead_kib
    return f"{device.name}: {device.description}" + (
        "" if ahead is None else f", readahead {ahead} KiB")


def _with_fills(file: File, number: int, fills: Table | None) -> File:
    """A file without residency was read where the kernel filled the page cache."""
    if file.read is not None or fills is None:
        return file
    mine = fills["file"] == number
    start = fills["offset"][mine]
    end = np.minimum(start + np.minimum(fills["bytes"][mine], file.size), file.size)
    return File(**{**vars(file), "read": Spans(start, end)})


def _main_file(command: list[str], found: list[File]) -> int | None:
    """The file of the program: by its path, by its name, else the first that is an ELF program."""
    program = _real(command[0])
    for same in (lambda file: _real(file.path) == program,
                 lambda file: file.name == os.path.basename(command[0]),
                 lambda file: any(section.name == ".interp" for section in file.sections)):
        for number, file in enumerate(found):
            if file.segments and same(file):
                return number
    return None


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a zero byte, or otherwise no path on this system
        return path
