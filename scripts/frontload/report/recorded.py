"""Reads a recorded start: a file of the schema frontload-faults/1, as `frontload faults` writes it.

Such a file may come from another machine and is not trusted: what the report uses of it is checked
here, once, and what is wrong is named by its place in the JSON (`faults.file[17]`). Memory grows
with the size of the file and not with what it claims: a residency stays a list of runs.
"""

import json
import os
from dataclasses import dataclass, field

import numpy as np

from frontload.base import files
from frontload.base.errors import BadData
from frontload.report.spans import Spans

SCHEMA = "frontload-faults/1"
ACCESSES = "xrw?"
_MAKE_ONE = "make one with: frontload faults --json FILE -- COMMAND"
_LARGEST = (1 << 62) - 1  # sums of two still fit


@dataclass(frozen=True)
class Section:
    name: str
    offset: int
    size: int
    address: int


@dataclass(frozen=True)
class Segment:
    address: int
    offset: int
    file_bytes: int
    memory_bytes: int
    flags: str  # as r-x

    def holds(self, offset: np.ndarray) -> np.ndarray:
        return (offset >= self.offset) & (offset - self.offset < self.file_bytes)


@dataclass(frozen=True)
class File:
    """A file that was mapped or read. `read`: what the start brought into the page cache; None if
    neither residency nor fills tell."""

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


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int | None
    command: str
    start_ns: int
    end_ns: int | None


@dataclass(frozen=True)
class Phase:
    process: int
    name: str
    start_ns: int
    end_ns: int | None


@dataclass(frozen=True)
class Table:
    """Columns of equal length, in order of time. A column that was not recorded is None."""

    columns: dict[str, np.ndarray | None]
    length: int

    def __getitem__(self, name: str) -> np.ndarray | None:
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
    # The kernel's own totals where the faults were not recorded one by one, else None.
    totals: dict[str, int | None] | None = field(default=None)
    # Faults that the kernel counted beside those that were recorded one by one.
    unlisted: dict[str, int] = field(default_factory=dict)
    device: str | None = field(default=None)  # what kind it was slowed down to, if it was


def read(path: os.PathLike | str) -> Recording:
    """Reads a recorded start; bad contents raise BadData."""
    with files.open_input(path, note=_MAKE_ONE) as stream:
        data = stream.read()
    return parse(data, path)


def parse(data: bytes, path: os.PathLike | str) -> Recording:
    """The start in `data`; `path` is for the messages."""
    document = files.parse_json(data, path, _MAKE_ONE)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BadData(path, f"not a recorded start (schema {SCHEMA})", note=_MAKE_ONE)
    return _Reader(path).recording(document)


class _Reader:
    """Takes the document apart; `place` is where a value stands in it, for messages."""

    def __init__(self, path: os.PathLike | str):
        self._path = os.fspath(path)

    def _bad(self, place: str, what: str) -> BadData:
        return BadData(self._path, f"{place}: {what}", note=_MAKE_ONE)

    def recording(self, document: dict) -> Recording:
        found = [self._file(value, f"files[{number}]")
                 for number, value in enumerate(self._list(document, "", "files"))]
        processes = [self._process(value, f"processes[{number}]", number)
                     for number, value in enumerate(self._list(document, "", "processes"))]
        fills = self._fills(document, len(found), len(processes))
        found = [_with_fills(file, number, fills) for number, file in enumerate(found)]
        command = self._texts(document, "", "command")
        sample = document.get("sample")
        if not isinstance(sample, dict):
            sample = {}
        rss = self._number(sample, "sample", "max_rss_kib", optional=True)
        host, recorder = (value if isinstance(value := document.get(key), dict) else {}
                          for key in ("host", "recorder"))
        return Recording(
            path=self._path, variant=self._text(document, "", "variant"), command=command,
            condition=self._text(document, "", "condition"),
            host={key: value for key, value in host.items() if type(value) in (str, int)},
            missing=[{key: self._text(value, f"missing[{number}]", key)
                      for key in ("what", "why", "remedy")}
                     for number, value in enumerate(self._list(document, "", "missing"))],
            lost=self._number(recorder, "recorder", "lost", optional=True) or 0,
            wall_ns=self._number(sample, "sample", "wall_ns", optional=True),
            max_rss_bytes=None if rss is None else rss * 1024,
            files=found, processes=processes,
            phases=[self._phase(value, f"phases[{number}]", len(processes))
                    for number, value in enumerate(self._list(document, "", "phases"))],
            faults=self._faults(document, len(found), len(processes)), fills=fills,
            requests=self._table(document, "requests", {"time_ns": _LARGEST, "bytes": _LARGEST}),
            main=_main_file(command, found),
            totals=None if document.get("faults") is not None else {
                key: self._number(sample, "sample", key, optional=True)
                for key in ("major_faults", "minor_faults")},
            unlisted=self._unlisted(recorder), device=self._device(document))

    def _device(self, document: dict) -> str | None:
        value = document.get("device")
        if value is None:
            return None
        name, description = (self._text(value, "device", key) for key in ("name", "description"))
        ahead = self._number(value, "device", "read_ahead_kib", optional=True)
        return f"{name}: {description}" + ("" if ahead is None else f", readahead {ahead} KiB")

    def _unlisted(self, recorder: dict) -> dict[str, int]:
        """Below 0 there are none: a child that nobody waited for is listed and not counted."""
        value = recorder.get("unlisted")
        found = {}
        for kind, number in value.items() if isinstance(value, dict) else ():
            if type(number) is not int or number > _LARGEST:
                raise self._bad(f"recorder.unlisted.{kind}", f"{_shown(number)} is no number")
            found[kind] = max(number, 0)
        return found

    def _file(self, value: object, place: str) -> File:
        size = self._number(value, place, "size")
        page_size = self._number(value, place, "page_size")
        if page_size < 512 or page_size & (page_size - 1):
            raise self._bad(f"{place}.page_size", f"{page_size} is no size of pages")
        before, after = (self._spans(value, place, key, page_size, size)
                         for key in ("before", "after"))
        return File(
            path=self._text(value, place, "path"), size=size,
            build_id=self._text(value, place, "build_id", optional=True) or "",
            read_ahead_kib=self._number(value, place, "read_ahead_kib", optional=True),
            page_size=page_size,
            sections=[Section(self._text(each, f"{place}.sections[{number}]", "name"),
                              *(self._number(each, f"{place}.sections[{number}]", key)
                                for key in ("offset", "size", "address")))
                      for number, each in enumerate(self._list(value, place, "sections"))],
            segments=[Segment(*(self._number(each, f"{place}.segments[{number}]", key)
                                for key in ("address", "offset", "file_bytes", "memory_bytes")),
                              self._text(each, f"{place}.segments[{number}]", "flags"))
                      for number, each in enumerate(self._list(value, place, "segments"))],
            read=None if after is None or before is None else after - before)

    def _process(self, value: object, place: str, number: int) -> Process:
        parent = self._number(value, place, "parent", optional=True)
        if parent is not None and parent >= number:
            raise self._bad(f"{place}.parent", f"{parent} is no process before this one")
        return Process(self._number(value, place, "pid"), parent,
                       self._text(value, place, "command"),
                       self._number(value, place, "start_ns"),
                       self._number(value, place, "end_ns", optional=True))

    def _phase(self, value: object, place: str, processes: int) -> Phase:
        process = self._number(value, place, "process")
        if process >= processes:
            raise self._bad(f"{place}.process", f"there is no process {process}")
        return Phase(process, self._text(value, place, "name"),
                     self._number(value, place, "start_ns"),
                     self._number(value, place, "end_ns", optional=True))

    def _faults(self, document: dict, found: int, processes: int) -> Table:
        """None are as good as an empty table; why there are none, `missing` says."""
        limits = {
            "time_ns": _LARGEST, "major": 1, "file": found - 1, "offset": _LARGEST,
            "code_file": found - 1, "code_offset": _LARGEST, "process": processes - 1,
            "thread": _LARGEST, "kernel": 1}
        if document.get("faults") is None:
            empty = {"faults": {key: [] for key in limits}}
            return self._table(empty, "faults", limits, text=("access",))
        return self._table(document, "faults", limits, least=-1,
                           optional=("code_file", "code_offset", "kernel"), text=("access",))

    def _fills(self, document: dict, found: int, processes: int) -> Table | None:
        return self._table(document, "fills", {
            "time_ns": _LARGEST, "file": found - 1, "offset": _LARGEST, "bytes": _LARGEST,
            "process": processes - 1, "thread": _LARGEST}, least=-1)

    def _table(self, document: dict, name: str, limits: dict[str, int], *, least: int = 0,
               optional: tuple[str, ...] = (), text: tuple[str, ...] = ()) -> Table | None:
        """Columns of whole numbers from `least` to each one's limit, sorted by time; columns of
        accesses are strings."""
        value = document.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._bad(name, "is not a table of columns")
        columns: dict[str, np.ndarray | None] = {}
        for key, limit in limits.items():
            column = value.get(key)
            if column is None and key in optional:
                columns[key] = None
                continue
            columns[key] = self._column(column, f"{name}.{key}", least, limit)
        for key in text:
            column = value.get(key)
            if column is not None and (not isinstance(column, str)
                                       or not set(column) <= set(ACCESSES)):
                raise self._bad(f"{name}.{key}", f"is not a text of {ACCESSES}")
            columns[key] = None if column is None else np.array(list(column), "U1")
        length = len(columns["time_ns"])
        for key, column in columns.items():
            if column is not None and len(column) != length:
                raise self._bad(f"{name}.{key}", f"has {len(column)} rows, not the {length} of "
                                "time_ns")
        order = np.argsort(columns["time_ns"], kind="stable")
        return Table({key: None if column is None else column[order]
                      for key, column in columns.items()}, length)

    def _column(self, column: object, place: str, least: int, limit: int) -> np.ndarray:
        if not isinstance(column, list):
            raise self._bad(place, "is not a list")
        for row, value in enumerate(column):
            if type(value) is not int or not least <= value <= limit:
                raise self._bad(f"{place}[{row}]", f"{_shown(value)} is not a whole number from "
                                f"{least} to {limit}")
        return np.array(column, np.int64)

    def _member(self, value: object, place: str, key: str) -> object:
        if not isinstance(value, dict):
            raise self._bad(place or "the document", "is not an object")
        return value.get(key)

    def _number(self, value: object, place: str, key: str, *,
                optional: bool = False) -> int | None:
        number = self._member(value, place, key)
        if number is None and optional:
            return None
        if type(number) is not int or not 0 <= number <= _LARGEST:
            raise self._bad(_join(place, key), f"{_shown(number)} is not a whole number from 0 up")
        return number

    def _text(self, value: object, place: str, key: str, *, optional: bool = False) -> str | None:
        text = self._member(value, place, key)
        if text is None and optional:
            return None
        if not isinstance(text, str):
            raise self._bad(_join(place, key), f"{_shown(text)} is not a text")
        return text

    def _list(self, value: object, place: str, key: str) -> list:
        found = self._member(value, place, key)
        if not isinstance(found, list):
            raise self._bad(_join(place, key), "is not a list")
        return found

    def _texts(self, value: object, place: str, key: str) -> list[str]:
        found = self._list(value, place, key)
        if not found or not all(isinstance(each, str) for each in found):
            raise self._bad(_join(place, key), "is not a list of texts")
        return found

    def _spans(self, value: object, place: str, key: str, page_size: int,
               size: int) -> Spans | None:
        text = self._text(value, place, key, optional=True)
        if text is None:
            return None
        try:
            return Spans.from_text(text, page_size, size)
        except ValueError as problem:
            raise self._bad(_join(place, key), str(problem)) from problem


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _shown(value: object) -> str:
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _with_fills(file: File, number: int, fills: Table | None) -> File:
    """A file of which residency tells nothing was read where the kernel filled the page cache."""
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
    except ValueError:  # a zero byte, or what is no path on this system
        return path
