"""Reads traces: what one process recorded of its first touches.

The format is declared, byte by byte, in instrument/format/frontload_trace.h; the words here are the
ones used there (header, slot, record, module). A trace is valid at any moment, also while its
process runs and after it was killed, so holes and a tail of empty slots are not errors. A file that
is shorter than its header says was cut, and is refused, unless it is made of whole pages: the
runtime claims slots before it makes the file larger, and may be stopped in between.

This reads the file in pieces and keeps only the filled slots: a recorder makes its file larger than
it needs, and a hole must cost no memory. It does not map the file, because truncating a mapped file
kills its reader.
"""

import functools
import hashlib
import os
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from frontload.base import files
from frontload.base.arrays import np
from frontload.base.errors import EXIT_USAGE, BadData, Failure
from frontload.profile.role import NO_ROLE, is_role

SUFFIX = ".fltrace"
MAGIC = b"\x89FLT\r\n\x1a\n"
MAJOR = 1
HEADER_SIZE = 128
SLOT_SIZE = 16
_HAS_RUNS, _HAS_ROLES, _HAS_PARTS, _HAS_ENDS = 2, 3, 4, 5  # the minor versions that added them

FUNCTION, DATA, BLOCK, CODE, MODULE = 1, 2, 3, 4, 0x80
GRANULE = 16  # bytes: the resolution of DATA and CODE
_EVENTS = (FUNCTION, DATA, BLOCK, CODE)
_MAIN = 1  # module flag

# The fields of struct frontload_trace_header, up to the reserved bytes.
_HEADER = "8sBBHHHIIIIQQBBB5xQ32s"
_NEXT_SLOT_AT, _STARTUP_DONE_AT, _ROLE_AT = 32, 48, 64  # of these fields, in the header
_BYTE_ORDERS = {1: "<", 2: ">"}
_KIND_SHIFT = 56
_ADDRESS_MASK = (1 << _KIND_SHIFT) - 1
_PAGE_SIZE = 4096  # the smallest there is
_PIECE = 1 << 18  # slots read at a time: 4 MiB
_damaged = functools.partial(BadData, note="copy or record it again")
# Recorders never replace a file, they append a number to the name.
_FILE_NAME = re.compile(rf".*{re.escape(SUFFIX)}(\.\d+)?", re.DOTALL)


@dataclass(frozen=True)
class Module:
    """A linked file of the recorded process: the program itself (`main`) or a shared library."""

    path: str
    build_id: bytes
    main: bool

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


@dataclass(frozen=True)
class Trace:
    """One process. Event i is a first touch of `addresses[i]` in `modules[owners[i]]`."""

    path: str
    modules: list[Module]
    kinds: np.ndarray
    addresses: np.ndarray
    owners: np.ndarray
    dropped: int  # first touches that the recorder had no room for
    ownerless: int  # first touches whose module's record was never completed
    pid: int = 0
    run: int = 0  # the same in all processes of a run; 0: not recorded
    forked: bool = False  # by another process of the run
    role: str = ""  # the user's name for processes of this kind; or empty
    tells_parts: bool = False  # it has parts of granules of code, which tell basic blocks apart
    failed: bool = False  # before its startup was over, with an error status or a crash

    @property
    def main(self) -> Module | None:
        return next((module for module in self.modules if module.main), None)

    @property
    def has_data(self) -> bool:
        """Whether its recorder records data, also if the run touched none: only such a recorder
        records granules of code."""
        return bool(np.isin(self.kinds, (DATA, CODE)).any())


def digest(trace: Trace, module: Module) -> bytes:
    """A digest of what a process did in a module. Addresses in traces are those of the file, so it
    is the same wherever the process was loaded."""
    mine = trace.owners == trace.modules.index(module)
    found = hashlib.blake2b(module.build_id)
    found.update(trace.kinds[mine].tobytes())
    found.update(trace.addresses[mine].tobytes())
    return found.digest()


@dataclass(frozen=True)
class _Header:
    order: str
    size: int
    next_slot: int
    dropped: int
    pid: int
    run: int
    forked: bool
    role: str
    tells_parts: bool
    failed: bool


def find(folder: os.PathLike[str] | str) -> list[Path]:
    """The traces in a folder."""
    return sorted(path for path in Path(folder).iterdir() if _FILE_NAME.fullmatch(path.name))


def expand(places: Iterable[os.PathLike[str] | str], *, code: int = EXIT_USAGE) -> list[str]:
    """The files at these places: a folder stands for its traces. A folder without any is refused,
    with an exit code."""
    found = []
    for place in (os.fspath(each) for each in places):
        inside = [os.fspath(path) for path in find(place)] if os.path.isdir(place) else [place]
        if not inside:
            raise Failure(f"{place}: has no traces (*{SUFFIX})", code=code,
                          note=f"make some with: frontload record -o {place} -- COMMAND")
        found += inside
    return found


def count_slots(path: os.PathLike[str] | str) -> int:
    """How many slots a trace has so far, which may still be written; 0 if it is no trace."""
    with open(path, "rb") as stream:
        try:
            return _read_header(stream, path).next_slot
        except BadData:
            return 0


def end_at(path: os.PathLike[str] | str, slots: int) -> None:
    """Records in a trace that startup was over when it had this many slots. Later slots do not
    count."""
    with open(path, "r+b") as stream:
        order = _read_header(stream, path).order
        stream.seek(_NEXT_SLOT_AT)
        stream.write(struct.pack(order + "Q", slots))
        stream.seek(_STARTUP_DONE_AT)
        stream.write(b"\1")


def has_ended(path: os.PathLike[str] | str) -> bool:
    """Whether a trace records the end of startup, because its recorder was told when."""
    with open(path, "rb") as stream:
        return stream.read(HEADER_SIZE)[_STARTUP_DONE_AT:][:1] == b"\1"


def read(path: os.PathLike[str] | str) -> Trace:
    """Reads a trace; bad contents raise BadData with the byte offset."""
    with files.open_input(path, "make a trace with: frontload record -- COMMAND") as stream:
        header = _read_header(stream, path)
        numbers, slots = _filled_slots(stream, path, header, _count_slots(stream, path, header))
        modules = {}
        is_event = np.isin(slots["word"] >> _KIND_SHIFT, _EVENTS)
        for number, module in _module_records(stream, path, header, numbers, slots, is_event):
            if number in modules:
                raise _damaged(path, f"module {number} is recorded twice")
            modules[number] = module
    return _assemble(os.fspath(path), header, modules, slots[is_event])


def _read_header(stream: BinaryIO, path: os.PathLike[str] | str) -> _Header:
    start = stream.read(HEADER_SIZE)
    if not start:
        raise BadData(path, "is empty", note="record again; the recorder wrote nothing to it")
    if not start.startswith(MAGIC):
        raise BadData(path, "not a trace: wrong magic", offset=0,
                      note="traces are made by: frontload record -- CMD")
    if len(start) < HEADER_SIZE:
        raise _damaged(path, f"truncated inside its header of {HEADER_SIZE} bytes",
                       offset=len(start))
    order = _BYTE_ORDERS.get(start[8])
    if order is None:
        raise _damaged(path, f"byte order {start[8]} is neither 1 (little) nor 2 (big)", offset=8)
    (_, _, word_size, _, major, minor, header_size, slot_size, _, pid, next_slot, dropped,
     startup_done, forked, failed, run, role) = struct.unpack_from(order + _HEADER, start)
    if major != MAJOR:
        raise BadData(path, f"trace format {major} is not {MAJOR}, which this frontload reads",
                      offset=12, note="read it with the frontload that recorded it, or a newer one")
    if word_size not in (4, 8):
        raise _damaged(path, f"word size {word_size} is neither 4 nor 8", offset=9)
    if header_size < HEADER_SIZE:
        raise _damaged(path, f"header size {header_size} is below {HEADER_SIZE}", offset=16)
    if slot_size != SLOT_SIZE:
        raise _damaged(path, f"slot size {slot_size} is not {SLOT_SIZE}", offset=20)
    if minor < _HAS_RUNS:
        run = forked = 0
    # A program may be changing the role, so that there is more behind the zero.
    role = role.partition(b"\0")[0].decode("latin-1") if minor >= _HAS_ROLES else ""
    if role and not is_role(role):
        raise _damaged(path, f"its role is {NO_ROLE}", offset=_ROLE_AT)
    return _Header(order, header_size, next_slot, dropped, pid, run, bool(forked), role,
                   minor >= _HAS_PARTS, minor >= _HAS_ENDS and bool(failed and not startup_done))


def _count_slots(stream: BinaryIO, path: os.PathLike[str] | str, header: _Header) -> int:
    # The size is looked at after `next_slot`, because the file of a live recorder grows meanwhile.
    size = os.fstat(stream.fileno()).st_size
    room, odd = divmod(size - header.size, SLOT_SIZE)
    if size < header.size:
        raise _damaged(path, f"truncated inside its header of {header.size} bytes", offset=size)
    if odd:
        raise _damaged(path, f"truncated inside slot {room}", offset=size)
    if header.next_slot > room + header.dropped and size % _PAGE_SIZE:
        raise _damaged(path, f"truncated: it has {room} of {header.next_slot} slots",
                       offset=size)
    return min(header.next_slot, room)


def _filled_slots(stream: BinaryIO, path: os.PathLike[str] | str, header: _Header,
                  count: int) -> tuple[np.ndarray, np.ndarray]:
    """The slots with a kind, and their numbers; the rest are empty."""
    slot = np.dtype([("word", header.order + "u8"), ("module", header.order + "u4"),
                     ("thread", header.order + "u4")])
    numbers, kept = [np.empty(0, np.int64)], [np.empty(0, slot)]
    stream.seek(header.size)
    for first in range(0, count, _PIECE):
        wanted = min(_PIECE, count - first) * SLOT_SIZE
        data = stream.read(wanted)
        if len(data) < wanted:
            raise _damaged(path, "shrank while it was read",
                           offset=header.size + first * SLOT_SIZE + len(data))
        slots = np.frombuffer(data, slot)
        filled = np.flatnonzero(slots["word"] >> _KIND_SHIFT)
        numbers.append(filled + first)
        kept.append(slots[filled])
    return np.concatenate(numbers), np.concatenate(kept)


def _module_records(stream: BinaryIO, path: os.PathLike[str] | str, header: _Header,
                    numbers: np.ndarray, slots: np.ndarray,
                    is_event: np.ndarray) -> Iterator[tuple[int, Module]]:
    """The complete module records by number; clears `is_event` for the slots they consist of."""
    end = 0
    for index in np.flatnonzero(slots["word"] >> _KIND_SHIFT == MODULE):
        first = int(numbers[index])
        if first < end:
            continue  # inside another module record: these are bytes of its path
        offset = header.size + first * SLOT_SIZE
        word = int(slots["word"][index])
        complete, id_size = word >> 48 & 0xff, word >> 40 & 0xff
        length, path_size = word >> 16 & 0xffffff, word & 0xffff
        if length != 1 + -(-(id_size + path_size) // SLOT_SIZE):
            raise _damaged(path, f"a module record of {length} slots for a build-id of {id_size} "
                           f"bytes and a path of {path_size}", offset=offset)
        if path_size == 0:
            raise _damaged(path, "a module record has no path", offset=offset)
        end = first + length
        is_event[index:np.searchsorted(numbers, end)] = False
        if not complete:
            continue
        stream.seek(offset + SLOT_SIZE)
        payload = stream.read(id_size + path_size)
        if len(payload) < id_size + path_size:
            raise _damaged(path, "a module record runs past the end", offset=offset)
        yield (int(slots["module"][index]),
               Module(os.fsdecode(payload[id_size:]), payload[:id_size],
                      bool(slots["thread"][index] & _MAIN)))


def _assemble(path: str, header: _Header, modules: dict[int, Module], events: np.ndarray) -> Trace:
    """Unites module records of the same file, and drops events whose module is not known."""
    places: dict[tuple[str, bytes], int] = {}
    united: list[Module] = []
    place_of = {}
    for number, module in sorted(modules.items()):
        place = places.setdefault((module.path, module.build_id), len(united))
        if place == len(united):
            united.append(module)
        elif module.main:
            united[place] = module
        place_of[number] = place
    numbers, which = np.unique(events["module"], return_inverse=True)
    owners = np.array([place_of.get(int(number), -1) for number in numbers], dtype=np.int64)[which]
    known = owners >= 0
    return Trace(path, united,
                 (events["word"][known] >> _KIND_SHIFT).astype(np.uint8),
                 (events["word"][known] & _ADDRESS_MASK).astype(np.uint64),
                 owners[known], header.dropped, int(np.count_nonzero(~known)), header.pid,
                 header.run, header.forked, header.role, header.tells_parts, header.failed)
