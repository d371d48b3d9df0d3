"""Puts the records of a process tree in order: which image faulted where in which file, and when.

The tree begins with the command's process, the first child of frontload-exec, at the command's
exec: times count from there. The child's faults before exec are counted, as the kernel does for the
command, but not listed.

A process has an entry for each image that it runs; what a child does between fork and its first
exec belongs to the image it then runs. Files get numbers in the order in which they are met.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from frontload.faults.waits import Threads
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.tracing import perf_records as records
from frontload.tracing.space import AddressSpace, Region

_WRITE, _EXECUTE = 2, 16  # bits of the error code of a fault on x86


@dataclass(slots=True)
class Image:
    """A process from one exec to the next. Times are absolute here."""

    pid: int
    parent: int | None
    name: str
    start: int
    end: int | None = None
    executed: int | None = None  # the time when exec was asked for
    first_instruction: int | None = None  # the time of its first fault in user mode
    mappings: list[int] = field(default_factory=list)  # the times at which it mapped files
    stops: list[tuple[int, int, int]] = field(default_factory=list)  # time, file and offset


class Fault(NamedTuple):
    time: int
    major: bool
    file: int  # -1, as its offset, for memory without a file
    offset: int
    address: int
    code_file: int
    code_offset: int
    process: int
    thread: int
    kernel: bool
    access: str


@dataclass(slots=True)
class Fill:
    time: int
    file: int
    offset: int
    bytes: int
    process: int
    thread: int
    written: bool = False  # by write(2), so not read


class History:
    """`path` of a file is None until a mapping has named it. Events later than `most_ns` after the
    command's exec are left out."""

    def __init__(self, most_ns: int | None = None):
        self._most_ns = most_ns
        self.images: list[Image] = []
        self.faults: list[Fault] = []
        self.fills: list[Fill] = []
        self.files: dict[tuple[tuple[int, int], int], int] = {}  # by device and inode
        self.paths: list[str | None] = []
        self.before_exec = {"major": 0, "minor": 0}
        self.lost = 0
        self.threads = Threads()
        self._launcher: int | None = None  # its pid
        self._current: dict[int, int] = {}  # the image that a pid runs
        self._spaces: dict[int, AddressSpace] = {}
        self._asked: dict[int, int] = {}  # when a pid last asked for an exec
        self._accesses: dict[int, records.Access] = {}  # the last of a thread
        self._filled: dict[tuple[int, int, int], Fill] = {}  # by thread, inode and offset

    @property
    def zero(self) -> int | None:
        """When the command's exec was asked for; None if it was not seen."""
        return self.images[0].executed if self.images else None

    def follow(self, told: Iterable[records.Record]) -> "History":
        for record in told:
            if self._most_ns is not None and self.zero is not None and not isinstance(
                    record, records.Lost) and record.time > self.zero + self._most_ns:
                continue
            self._take(record)
            self.threads.see(record)
        return self

    def _take(self, record: records.Record) -> None:
        index = self._current.get(record.pid)
        match record:
            case records.Lost():
                self.lost += record.count
            case records.Execve():
                self._asked[record.pid] = record.time
            case records.Access():
                self._accesses[record.tid] = record
            case records.Write():
                self._write(record)
            case records.Fork():
                self._fork(record)
            case records.Comm() if self._launcher is None:
                self._launcher = record.pid if record.exec else None
            case _ if index is None:
                pass  # of another process than the command's
            case records.Comm():
                self._comm(record, index)
            case records.Exit():  # the last thread's end is the process's
                self.images[index].end = record.time
            case records.Mapping():
                self._mapping(record, index)
            case records.Fault():
                self._fault(record, index)
            case records.Fill():
                self._fill(record, index)
            case records.Breakpoint():
                place = self._spaces[record.pid].place(record.code)
                self.images[index].stops.append((record.time, *place))

    def file(self, device: tuple[int, int], inode: int, path: str | None = None) -> int:
        number = self.files.setdefault((device, inode), len(self.files))
        if number == len(self.paths):
            self.paths.append(None)
        if path is not None and self.paths[number] is None:
            self.paths[number] = path
        return number

    def _comm(self, record: records.Comm, index: int) -> None:
        image = self.images[index]
        if not record.exec:
            if record.pid == record.tid:
                image.name = record.name
            return
        asked = self._asked.get(record.pid, record.time)
        if image.executed is not None:
            image.end = asked
            image = self._begin(Image(record.pid, index, record.name, asked), record.tid)
        image.name, image.executed = record.name, asked
        self._spaces[record.pid] = AddressSpace()

    def _begin(self, image: Image, thread: int) -> Image:
        self.images.append(image)
        self._current[image.pid] = len(self.images) - 1
        self.threads.begin(thread, len(self.images) - 1, image.start)
        return image

    def _fork(self, record: records.Fork) -> None:
        if record.pid == record.parent:  # a thread
            if record.pid in self._current:
                self.threads.begin(record.tid, self._current[record.pid], record.time)
            return
        parent = self._current.get(record.parent)
        if parent is None and (record.parent != self._launcher or self.images):
            return
        name = self.images[parent].name if parent is not None else ""
        self._begin(Image(record.pid, parent, name, record.time), record.tid)
        space = self._spaces.get(record.parent)
        self._spaces[record.pid] = space.copy() if space else AddressSpace()

    def _mapping(self, record: records.Mapping, index: int) -> None:
        number = -1
        if record.inode and record.path.startswith("/") and not record.path.startswith("//"):
            number = self.file(record.device, record.inode, record.path)
        space = self._spaces[record.pid]
        new = Region(record.start, record.start + record.size, record.offset, number,
                     "w" in record.protection)
        old = space.find(record.start)
        # A mapping that loses write access is not new: it has been relocated.
        protected = old is not None and old.file == number and old.writable and not new.writable
        if number >= 0 and not protected:
            self.images[index].mappings.append(record.time)
        space.add(new)

    def _fault(self, record: records.Fault, index: int) -> None:
        image = self.images[index]
        if self.images[0].executed is None:
            self.before_exec["major" if record.major else "minor"] += 1
            return
        access = self._accesses.pop(record.tid, None)
        if access is not None and access.address != record.address:
            access = None
        if image.first_instruction is None and not record.kernel and image.executed is not None:
            # A fault is recorded after it was handled.
            image.first_instruction = access.time if access else record.time
        space = self._spaces[record.pid]
        file, offset = space.place(record.address)
        code_file, code_offset = (-1, -1) if record.kernel else space.place(record.code)
        self.faults.append(Fault(record.time, record.major, file, offset, record.address,
                                 code_file, code_offset, index, record.tid, record.kernel,
                                 _kind(record, access)))

    def _fill(self, record: records.Fill, index: int) -> None:
        fill = Fill(record.time, self.file(record.device, record.inode), record.offset,
                    PAGE_SIZE << record.order, index, record.tid)
        self.fills.append(fill)
        self._filled[record.tid, record.inode, record.offset] = fill

    def _write(self, record: records.Write) -> None:
        fill = self._filled.get((record.tid, record.inode, record.page * PAGE_SIZE))
        # During a fault, this is a store to a shared mapping, whose page was read.
        if fill is not None and record.tid not in self._accesses:
            fill.written = True


def _kind(fault: records.Fault, access: records.Access | None) -> str:
    if access is not None:
        if access.error_code & _EXECUTE:
            return "x"
        return "w" if access.error_code & _WRITE else "r"
    # Only the processor reads the instruction that it executes.
    return "x" if fault.address == fault.code else "?"
