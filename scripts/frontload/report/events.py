"""The events of a start in order of time: its faults, and what was read into the page cache.

A *read* is one stretch of a file that a thread brought into the page cache: fills that continue
each other, without a fault of that thread between them. The kernel fills page by page (or folio by
folio) what it requested from the device at once.

A read goes *backwards* if it begins before the read of the same file before it. Where fills were
not recorded, major faults stand for reads.

The **cause** of a fault, by the first rule that fits:

    exec         before the program's first instruction: the kernel maps it, and clears the rest of
                 the page where .data ends
    relocation   while relocations are applied, of the tables of relocations, or a write; and
                 wherever the dynamic loader reads these tables
    loader       by the dynamic loader's code otherwise, or while relocations are applied
    constructor  while constructors run
    kernel       in the kernel: a system call reads or writes memory of the program
    code         an instruction is fetched
    data         of writable memory, and of memory of no file
    constant     of all else: constants, and mapped data files

The cause of a read is that of the fault that waited for it: the next fault of the thread, if it is
major and in the read, or minor and before it in the same file (the kernel then reads ahead). Other
reads were requested by a system call (read, readahead): `kernel`, or `exec` while the program is
not there yet.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from frontload.base.arrays import np
from frontload.report.places import Places
from frontload.report.recorded import Recording

CAUSES = ("exec", "loader", "relocation", "constructor", "code", "constant", "data", "kernel")
MAJOR, MINOR, READ = "M", "m", "F"
BSS = ".bss"
_EXEC, _LOADER, _RELOCATION, _CONSTRUCTOR, _CODE, _CONSTANT, _DATA, _KERNEL = range(len(CAUSES))
_LOADER_NAME = re.compile(r"ld(-linux[^/]*|-musl[^/]*|64)?(-[0-9.]+)?\.so(\.[0-9]+)?")
_RELOCATIONS = re.compile(r"\.(rela?|relr)(\..*)?")
# A readahead may begin at most this far behind the minor fault that started it.
_MAX_AHEAD = 1 << 20


@dataclass(frozen=True)
class Events:
    """Columns in order of time; `symbol` and `by` (the touching code) are names, or empty."""

    kind: np.ndarray
    time_ns: np.ndarray
    file: np.ndarray
    offset: np.ndarray
    cause: np.ndarray
    section: list[str]  # empty outside of files
    symbol: list[bytes]
    by: list[bytes]
    bytes: np.ndarray
    backward: np.ndarray
    process: np.ndarray
    thread: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)

    def of(self, kind: str) -> np.ndarray:
        return self.kind == kind


def is_loader(path: str) -> bool:
    """Whether a file is a dynamic loader, by its name (glibc's or musl's)."""
    return bool(_LOADER_NAME.fullmatch(path.rsplit("/", 1)[-1]))


def events(recording: Recording, places: Sequence[Places]) -> Events:
    """Faults and reads together, each with its cause and place."""
    faults = recording.faults
    phase = phase_of(recording, faults["time_ns"], faults["process"])
    cause = _fault_causes(recording, places, phase)
    reads = _reads(recording)
    unknown = np.full(len(reads["time_ns"]), -1)
    columns = {name: np.concatenate([faults[name], reads[name]])
               for name in ("time_ns", "file", "offset", "process", "thread")}
    columns["offset"] = np.where(columns["file"] < 0, -1, columns["offset"])
    columns["kind"] = np.concatenate([np.where(faults["major"] == 1, MAJOR, MINOR),
                                      np.full(len(unknown), READ)])
    columns["bytes"] = np.concatenate([np.zeros(len(cause), np.int64), reads["bytes"]])
    columns["cause"] = np.concatenate([cause, np.full(len(unknown), _KERNEL)])
    columns |= {name: np.concatenate([faults[name], unknown])
                for name in ("code_file", "code_offset")}
    columns["access"] = np.concatenate([faults["access"], np.full(len(unknown), "?")])
    # At one time reads come first: the fault waited for them.
    order = np.lexsort((columns["kind"] != READ, columns["time_ns"]))
    columns = {name: column[order] for name, column in columns.items()}
    kind = columns["kind"]
    waited = _waited_for(columns)
    phases = phase_of(recording, columns["time_ns"], columns["process"])
    causes = columns["cause"]
    causes[(kind == READ) & (phases == "exec")] = _EXEC
    causes[waited >= 0] = causes[waited[waited >= 0]]
    backward = _backward(columns, recording.fills is not None)
    majors = np.flatnonzero((waited >= 0) & backward & (kind == READ))
    backward[waited[majors][kind[waited[majors]] == MAJOR]] = True
    section, symbol = _names(places, columns["file"], columns["offset"])
    for row in _cleared(places, columns):
        section[row], symbol[row] = BSS, b""
    _, by = _names(places, columns["code_file"], columns["code_offset"])
    return Events(kind=kind, time_ns=columns["time_ns"], file=columns["file"],
                  offset=columns["offset"], bytes=columns["bytes"], cause=causes, section=section,
                  symbol=symbol, by=by, backward=backward, process=columns["process"],
                  thread=columns["thread"])


def phase_of(recording: Recording, time_ns: np.ndarray, process: np.ndarray) -> np.ndarray:
    """The phase of each event, empty if it is in none; of overlapping phases, the last one to
    begin."""
    found = np.full(len(time_ns), "", object)
    for phase in sorted(recording.phases, key=lambda phase: phase.start_ns):
        found[phase.holds(process, time_ns)] = phase.name
    return found


def _fault_causes(recording: Recording, places: Sequence[Places], phase: np.ndarray) -> np.ndarray:
    faults, access = recording.faults, recording.faults["access"]
    count, written = len(access), access == "w"
    flags = np.zeros(count, "U1")
    tables = np.zeros(count, bool)
    for number, place in enumerate(places):
        mine = faults["file"] == number
        offsets = faults["offset"][mine]
        flags[mine] = np.where(written[mine] & place.cleared(offsets), "w",
                               place.segment_flags(offsets))
        tables[mine] = [bool(_RELOCATIONS.fullmatch(name)) for name in place.section_at(offsets)]
    loaders = np.array([is_loader(file.path) for file in recording.files] + [False])
    kernel = faults["kernel"] == 1
    by_loader = loaders[faults["code_file"]] | loaders[faults["file"]]  # -1 is the last one: none
    relocating = phase == "relocation"
    writes = written | ((access == "?") & (flags == "w"))
    fetches = (access == "x") | ((access == "?") & (flags == "x"))
    rules = [
        (phase == "exec", _EXEC),
        (relocating & (tables | (writes & ~kernel)) | (by_loader & tables), _RELOCATION),
        ((by_loader & ~kernel) | relocating, _LOADER),
        (phase == "constructors", _CONSTRUCTOR),
        (kernel, _KERNEL),
        (fetches, _CODE),
        ((flags == "w") | (faults["file"] < 0), _DATA),
    ]
    return np.select([rule for rule, _ in rules], [cause for _, cause in rules], _CONSTANT)


def _reads(recording: Recording) -> dict[str, np.ndarray]:
    """The fills that continue each other, up or down, joined."""
    names = ("time_ns", "file", "offset", "bytes", "process", "thread")
    if recording.fills is None:
        return {name: np.empty(0, np.int64) for name in names}
    fills, faults = recording.fills, recording.faults
    rows = np.column_stack([fills[name] for name in names])
    rows = rows[rows[:, 1] >= 0]
    fault_times = {thread: faults["time_ns"][faults["thread"] == thread]
                   for thread in np.unique(rows[:, 5]).tolist()}
    joined: list[list[int]] = []
    last: dict[int, tuple[list[int], int]] = {}  # by thread: its read, and the faults before it
    for row in rows.tolist():
        time, file, offset, size, _, thread = row
        before = int(np.searchsorted(fault_times[thread], time, "left"))
        read, seen = last.get(thread, (None, -1))
        if read and seen == before and read[1] == file \
                and offset in (read[2] + read[3], read[2] - size):  # readahead_expand() goes down
            read[2:4] = min(read[2], offset), read[3] + size
            continue
        joined.append(row)
        last[thread] = row, before
    table = np.array(joined, np.int64).reshape(-1, len(names))
    return {name: table[:, number] for number, name in enumerate(names)}


def _waited_for(columns: dict[str, np.ndarray]) -> np.ndarray:
    """For each read the row of the fault that waited for it or set it off, else -1; -1 for other
    events. Reads of a thread between two of its faults belong to the second."""
    waited = np.full(len(columns["kind"]), -1)
    following: dict[int, int] = {}
    rows = zip(columns["kind"].tolist(), columns["thread"].tolist(), columns["file"].tolist(),
               columns["offset"].tolist(), columns["bytes"].tolist(), strict=True)
    offsets, of_file = columns["offset"], columns["file"]
    for row, (kind, thread, file, start, size) in reversed(list(enumerate(rows))):
        if kind != READ:
            following[thread] = row
            continue
        fault = following.get(thread)
        if fault is None or of_file[fault] != file:
            continue
        ahead = start - int(offsets[fault])
        major = columns["kind"][fault] == MAJOR
        # A read around a fault may come in two pieces, if pages between them were there before.
        if -size - _MAX_AHEAD < ahead <= _MAX_AHEAD if major else 0 <= ahead <= _MAX_AHEAD:
            waited[row] = fault
    return waited


def _backward(columns: dict[str, np.ndarray], has_fills: bool) -> np.ndarray:
    reads = columns["kind"] == (READ if has_fills else MAJOR)
    backward = np.zeros(len(reads), bool)
    for file in np.unique(columns["file"][reads]).tolist():
        if file < 0:
            continue
        rows = np.flatnonzero(reads & (columns["file"] == file))
        backward[rows[1:]] = np.diff(columns["offset"][rows]) < 0
    return backward


def _cleared(places: Sequence[Places], columns: dict[str, np.ndarray]) -> list[int]:
    """The rows of the faults that wrote to .bss in the last page of the data."""
    found = np.zeros(len(columns["file"]), bool)
    for number, place in enumerate(places):
        rows = np.flatnonzero((columns["access"] == "w") & (columns["file"] == number))
        found[rows] = place.cleared(columns["offset"][rows])
    return np.flatnonzero(found).tolist()


def _names(places: Sequence[Places], file: np.ndarray, offset: np.ndarray
           ) -> tuple[list[str], list[bytes]]:
    """The section and the symbol at each place."""
    section, symbol = [""] * len(file), [b""] * len(file)
    for number, place in enumerate(places):
        mine = np.flatnonzero((file == number) & (offset >= 0))
        if not len(mine):
            continue
        found = zip(mine.tolist(), place.section_at(offset[mine]), place.symbol_at(offset[mine]),
                    strict=True)
        for row, its_section, its_symbol in found:
            section[row], symbol[row] = its_section, its_symbol
    return section, symbol
