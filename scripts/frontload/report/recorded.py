"""Reads a recorded start: a file of the schema frontload-faults/1, as `frontload faults` writes it.

Such a file may come from another machine and is not trusted: the parts that the report uses are
checked here, once, and errors give their place in the JSON (`faults.file[17]`). Memory grows with
the size of the file and not with its claims: a residency stays a list of runs.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import StrictInt

from frontload.base import documents, files
from frontload.base.arrays import np
from frontload.base.documents import MAX_NUMBER, Number, Part, Text, shown
from frontload.base.errors import BadData
from frontload.base.spans import Spans
from frontload.device import image

SCHEMA = "frontload-faults/1"
_MAKE_ONE = "make one with: frontload faults --json FILE -- COMMAND"
_ACCESSES = "xrw?"
_FILLS = "time_ns", "file", "offset", "bytes", "process", "thread"
_FAULTS = ("time_ns", "major", "file", "offset", "code_file", "code_offset", "process", "thread",
           "kernel", "access")

Table = dict[str, np.ndarray]  # columns of equal length, in order of time


class Section(Part):
    name: Text
    offset: Number
    size: Number


class Segment(Part):
    address: Number
    offset: Number
    file_bytes: Number
    memory_bytes: Number
    flags: Text  # as r-x

    def holds(self, offset: np.ndarray) -> np.ndarray:
        return (offset >= self.offset) & (offset - self.offset < self.file_bytes)


class File(Part):
    """A file that was mapped or read."""

    path: Text
    size: Number
    page_size: Number
    build_id: Text | None = None
    read_ahead_kib: Number | None = None
    sections: list[Section]
    segments: list[Segment]
    before: Text | None = None  # its pages in memory
    after: Text | None = None

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

    def holds(self, process: np.ndarray, time_ns: np.ndarray) -> np.ndarray:
        """Which events are in it, by their processes and times."""
        end = MAX_NUMBER if self.end_ns is None else self.end_ns
        return (process == self.process) & (time_ns >= self.start_ns) & (time_ns < end)


@dataclass(frozen=True)
class Recording:
    """One recorded start."""

    variant: str
    command: list[str]
    condition: str
    host: dict[str, str | int]
    missing: list[dict[str, str]]
    lost: int
    wall_ns: int | None
    max_rss_bytes: int | None
    files: list[File]
    # What the start brought of each file into the page cache; None if neither residency nor fills
    # show it.
    reads: list[Spans | None]
    processes: list[Process]
    phases: list[Phase]
    faults: Table
    fills: Table | None
    requests: int | None
    main: int | None  # the file of the program itself
    # The kernel's own totals if the faults were not recorded one by one, else None.
    totals: dict[str, int | None] | None
    unlisted: dict[str, int]  # faults that the kernel counted beside the recorded ones
    device: str | None  # the kind that it was slowed down to, if any
    block_bytes: int | None  # of the image there, if its blocks have one size in files


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
    document = documents.checked(_Document, value, path, _MAKE_ONE)
    return _Reader(os.fspath(path), document).recording()


class _Requests(Part):
    time_ns: list


class _Sample(Part):
    wall_ns: Number | None = None
    max_rss_kib: Number | None = None
    major_faults: Number | None = None
    minor_faults: Number | None = None


class _Recorder(Part):
    lost: Number | None = None
    unlisted: dict[Text, StrictInt] | None = None


class _Device(Part):
    name: Text
    description: Text
    read_ahead_kib: Number | None = None
    image: Text | None = None


class _Lack(Part):
    what: Text
    why: Text
    remedy: Text


class _Document(Part):
    variant: Text
    command: list[Text]
    condition: Text
    host: dict[str, Any]
    missing: list[_Lack]
    recorder: _Recorder
    sample: _Sample
    device: _Device | None = None
    files: list[File]
    processes: list[Process]
    phases: list[Phase]
    faults: dict[str, Any] | None = None
    fills: dict[str, Any] | None = None
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
        for number, phase in enumerate(document.phases):
            if phase.process >= len(document.processes):
                raise self._bad(f"phases[{number}].process",
                                f"there is no process {phase.process}")
        fills = None if document.fills is None else self._table("fills", document.fills, _FILLS)
        rss, device = sample.max_rss_kib, document.device
        return Recording(
            variant=document.variant, command=document.command, condition=document.condition,
            host={key: value for key, value in document.host.items() if type(value) in (str, int)},
            missing=[dict(lack) for lack in document.missing], lost=document.recorder.lost or 0,
            wall_ns=sample.wall_ns, max_rss_bytes=None if rss is None else rss * 1024,
            files=document.files, reads=[self._read(file, number, fills) for number, file
                                         in enumerate(document.files)],
            processes=document.processes, phases=document.phases,
            # None are as good as an empty table; `missing` has the reason.
            faults=self._table("faults", document.faults or {key: [] for key in _FAULTS[:-1]},
                               _FAULTS),
            fills=fills,
            requests=None if document.requests is None else len(document.requests.time_ns),
            main=_main_file(document.command, document.files),
            totals=None if document.faults is not None else {
                "major_faults": sample.major_faults, "minor_faults": sample.minor_faults},
            # Below 0 there are none: a child that was not waited for is listed and not counted.
            unlisted={kind: max(number, 0)
                      for kind, number in (document.recorder.unlisted or {}).items()},
            device=None if device is None else f"{device.name}: {device.description}" + (
                "" if device.read_ahead_kib is None
                else f", readahead {device.read_ahead_kib} KiB"),
            block_bytes=image.block_in_files(device.image) if device and device.image else None)

    def _read(self, file: File, number: int, fills: Table | None) -> Spans | None:
        """What was read of a file: by its residency, else where the kernel filled the page
        cache."""
        place = f"files[{number}]"
        if file.page_size < 512 or file.page_size & (file.page_size - 1):
            raise self._bad(f"{place}.page_size", f"{file.page_size} is not a page size")
        before, after = (self._spans(text, f"{place}.{key}", file)
                         for key, text in (("before", file.before), ("after", file.after)))
        if before is not None and after is not None:
            return after - before
        if fills is None:
            return None
        mine = fills["file"] == number
        start = fills["offset"][mine]
        return Spans(start, np.minimum(start + np.minimum(fills["bytes"][mine], file.size),
                                       file.size))

    def _table(self, name: str, given: dict[str, Any], names: Sequence[str]) -> Table:
        """Columns of whole numbers from -1 to each one's limit, sorted by time; the column of
        accesses is strings."""
        last_file = len(self._document.files) - 1
        limits = {"major": 1, "kernel": 1, "file": last_file, "code_file": last_file,
                  "process": len(self._document.processes) - 1}
        length = len(given["time_ns"]) if isinstance(given.get("time_ns"), list) else 0
        # What was not recorded of faults.
        unknown: dict[str, list | str] = {"code_file": [-1] * length, "code_offset": [-1] * length,
                                          "kernel": [0] * length, "access": "?" * length}
        columns: Table = {}
        for key in names:
            place, column = f"{name}.{key}", given.get(key)
            if column is None:
                column = unknown.get(key)
            if key == "access":
                if not isinstance(column, str) or not set(column) <= set(_ACCESSES):
                    raise self._bad(place, f"is not a text of {_ACCESSES}")
                columns[key] = np.array(list(column), "U1")
            else:
                columns[key] = self._column(column, place, limits.get(key, MAX_NUMBER))
            if len(columns[key]) != length:
                raise self._bad(place, f"has {len(columns[key])} rows, not the {length} of time_ns")
        order = np.argsort(columns["time_ns"], kind="stable")
        return {key: column[order] for key, column in columns.items()}

    def _column(self, column: object, place: str, limit: int) -> np.ndarray:
        # Not in the model: there are hundreds of thousands, with limits for each column.
        if not isinstance(column, list):
            raise self._bad(place, "is not a list")
        for row, value in enumerate(column):
            if type(value) is not int or not -1 <= value <= limit:
                raise self._bad(f"{place}[{row}]", f"{shown(value)} is not a whole number from -1 "
                                f"to {limit}")
        return np.array(column, np.int64)

    def _spans(self, text: str | None, place: str, file: File) -> Spans | None:
        try:
            return None if text is None else Spans.from_text(text, file.page_size, file.size)
        except ValueError as problem:
            raise self._bad(place, str(problem)) from problem


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
