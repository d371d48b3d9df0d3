"""Reads what perf recorded: the text of `perf script`, one record after the other, by time.

Why this text and not the file itself: perf.data differs from version to version, and the perf that
wrote it is there to read it. The text of a record is a fixed beginning (who, when, what) and then
fields. Only a path or a command's name can hold anything, and these come last. So a line that does
not begin like a record continues the name in the line before. perf_script.py describes the
beginning.

Numbers are as the kernel has them: times in nanoseconds of the monotonic clock.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from frontload.base import processes
from frontload.base.errors import BadData
from frontload.tracing import perf_script
from frontload.tracing.perf_script import Head

_MMAP = re.compile(rb"PERF_RECORD_MMAP2 (-?\d+)/(-?\d+): \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ "
                   rb"(0x[0-9a-f]+|0) ([0-9a-f]+):([0-9a-f]+) (\d+) (\d+)\]: (\S{4}) (.*)$",
                   re.DOTALL)
_COMM = re.compile(rb"PERF_RECORD_COMM( exec)?: (.*):(-?\d+)/(-?\d+)$", re.DOTALL)
_TASK = re.compile(rb"PERF_RECORD_(FORK|EXIT)\((-?\d+):(-?\d+)\):\((-?\d+):-?\d+\)$")
_LOST = re.compile(rb"PERF_RECORD_LOST(?:_SAMPLES)?\b\D*(\d+)")
_FAULT = re.compile(rb"(major|minor)-faults(?::u)?:\s+([0-9a-f]+)\s+([0-9a-f]+)$")
_BREAKPOINT = re.compile(rb"mem:0x[0-9a-f]+:x:u:\s+[0-9a-f]+\s+([0-9a-f]+)$")
_FILL = re.compile(rb"filemap:mm_filemap_add_to_page_cache: dev (\d+):(\d+) ino ([0-9a-f]+) .*?"
                   rb"ofs=(\d+)(?: order=(\d+))?\s")
_ACCESS = re.compile(rb"exceptions:page_fault_(?:user|kernel): address=(?:0x)?([0-9a-f]+)\S* .*?"
                     rb"error_code=0x([0-9a-f]+)")
_WRITE = re.compile(rb"writeback:writeback_dirty_(?:folio|page): bdi .*?: ino=(\d+) index=(\d+)")
_EXECVE = re.compile(rb"syscalls:sys_enter_execve(?:at)?:")
_CALL = re.compile(rb"raw_syscalls:sys_(enter|exit): NR (-?\d+)")
# A process's name can be anything, of at most 15 bytes.
_SWITCH = re.compile(rb"sched:sched_switch: prev_comm=.{0,15} prev_pid=\d+ prev_prio=-?\d+ "
                     rb"prev_state=([A-Z])\S* ==> ", re.DOTALL)
_REQUEST = re.compile(rb"block:block_rq_issue: (\d+),(\d+) (\S+) \d+ \(.*?\) (\d+) \+ (\d+)\b")


@dataclass(frozen=True, slots=True)
class Record:
    """The process, thread and time of a record; each kind of record has more."""

    pid: int
    tid: int
    time: int


@dataclass(frozen=True, slots=True)
class Mapping(Record):
    """A file, or memory without one, was mapped (or its protection changed)."""

    start: int
    size: int
    offset: int
    device: tuple[int, int]
    inode: int
    protection: str  # r-xp
    path: str


@dataclass(frozen=True, slots=True)
class Comm(Record):
    name: str
    exec: bool


@dataclass(frozen=True, slots=True)
class Fork(Record):
    parent: int


@dataclass(frozen=True, slots=True)
class Exit(Record):
    pass


@dataclass(frozen=True, slots=True)
class Lost(Record):
    count: int


@dataclass(frozen=True, slots=True)
class Fault(Record):
    major: bool
    address: int
    code: int  # the address of the instruction
    kernel: bool


@dataclass(frozen=True, slots=True)
class Access(Record):
    """The processor's report of the next fault."""

    address: int
    error_code: int


@dataclass(frozen=True, slots=True)
class Breakpoint(Record):
    code: int


@dataclass(frozen=True, slots=True)
class Execve(Record):
    """A process asked for an exec, which may fail."""


@dataclass(frozen=True, slots=True)
class Fill(Record):
    device: tuple[int, int]
    inode: int
    offset: int
    order: int  # the pages are two to the power of this


@dataclass(frozen=True, slots=True)
class Write(Record):
    """A page of a file became dirty."""

    inode: int
    page: int


@dataclass(frozen=True, slots=True)
class Call(Record):
    """A system call begins, or ends."""

    number: int | None  # None at its end


@dataclass(frozen=True, slots=True)
class Switch(Record):
    """The thread was taken off its processor."""

    sleeps: bool  # and could not run on
    for_disk: bool  # so that it cannot be interrupted


@dataclass(frozen=True, slots=True)
class Request(Record):
    device: tuple[int, int]
    kind: str  # blktrace's letters: R is a read
    sector: int
    sectors: int


def read(path: Path, *, has_addresses: bool = True) -> Iterator[Record]:
    """The records of a perf.data, by time; requests have no addresses."""
    fields = "pid,tid,time,event,misc,ip,addr,trace" if has_addresses \
        else "pid,tid,time,event,misc,trace"
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryFile() as errors:
        # It would read the symbols of all programs, to no use, and into the page cache.
        command = ["perf", "script", f"--symfs={empty}", f"--input={path}", "--show-mmap-events",
                   "--show-task-events", "--show-lost-events", "--ns", "--fields", fields]
        with processes.started(command, stdout=subprocess.PIPE, stderr=errors) as process, \
                cast(IO[bytes], process.stdout) as text:
            yield from parse(text)
            status = processes.wait(process)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().splitlines()
    if status:
        raise BadData(path, "perf cannot read it: "
                      + (said[-1] if said else f"exit status {status}"))


def parse(lines: Iterable[bytes]) -> Iterator[Record]:
    """The records in a text of perf script; other lines are skipped."""
    for head, text in _entries(lines):
        who = head.process or 0, head.thread, head.time
        what = text.removesuffix(b"\n")
        record = _of_the_kernel(who, what) if what.startswith(b"PERF_RECORD_") \
            else _sample(who, head.flags, what)
        if record is not None:
            yield record


def _entries(lines: Iterable[bytes]) -> Iterator[tuple[Head, bytes]]:
    head, what = None, b""
    for line in lines:
        found = perf_script.head(line, has_name=False)
        if found is None or found.process is None:
            what += line
            continue
        if head:
            yield head, what
        head, what = found, found.rest
    if head:
        yield head, what


def _of_the_kernel(who: tuple[int, int, int], what: bytes) -> Record | None:
    time = who[2]
    if found := _MMAP.match(what):
        pid, tid, start, size, offset, major, minor, inode, _, protection, path = found.groups()
        return Mapping(int(pid), int(tid), time, int(start, 16), int(size, 16), int(offset, 16),
                       (int(major, 16), int(minor, 16)), int(inode),
                       protection.decode("ascii", "replace"), os.fsdecode(path))
    if found := _COMM.match(what):
        return Comm(int(found[3]), int(found[4]), time, os.fsdecode(found[2]),
                    found[1] is not None)
    if found := _TASK.match(what):
        kind, pid, tid, parent = found.groups()
        if kind == b"FORK":
            return Fork(int(pid), int(tid), time, int(parent))
        return Exit(int(pid), int(tid), time)
    if found := _LOST.match(what):
        return Lost(*who, int(found[1]))
    return None


def _sample(who: tuple[int, int, int], flags: bytes, what: bytes) -> Record | None:
    if found := _CALL.match(what):
        return Call(*who, int(found[2]) if found[1] == b"enter" else None)
    if found := _SWITCH.match(what):
        return Switch(*who, found[1] in b"SDI", found[1] == b"D")  # the kernel's letters
    if found := _FAULT.match(what):
        return Fault(*who, found[1] == b"major", int(found[2], 16), int(found[3], 16),
                     b"K" in flags)
    if found := _ACCESS.match(what):
        return Access(*who, int(found[1], 16), int(found[2], 16))
    if found := _FILL.match(what):
        return Fill(*who, (int(found[1]), int(found[2])), int(found[3], 16), int(found[4]),
                    int(found[5] or 0))
    if found := _REQUEST.match(what):
        return Request(*who, (int(found[1]), int(found[2])),
                       found[3].decode("ascii", "replace"), int(found[4]), int(found[5]))
    if found := _BREAKPOINT.match(what):
        return Breakpoint(*who, int(found[1], 16))
    if found := _WRITE.match(what):
        return Write(*who, int(found[1]), int(found[2]))
    if _EXECVE.match(what):
        return Execve(*who)
    return None
