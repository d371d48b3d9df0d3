"""What a start waits for: the times in which none of its threads runs.

A thread rests from when the scheduler takes it off a processor, asleep, until its next record. It
rests for a *disk* if it cannot be interrupted, or sleeps in a page fault, or in a call that brings
a file into the page cache (as FUSE reads). Otherwise it rests in a system call that waits for
something else: time, other processes, the network.

A *wait* is a time in which all threads of the start rest. It is attributed to the thread that ends
it: other sleeping threads, such as those of a pool, delay nothing.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass

from frontload.tracing import perf_records as records

DISK, OTHER_CALL = "disk", "another system call"
# Calls that wait, by the kernel's numbers (asm/unistd_64.h, asm-generic/unistd.h).
_CALLS: Mapping[str, Mapping[int, str]] = {
    "x86_64": {
        0: "read", 1: "write", 7: "poll", 17: "pread64", 19: "readv", 20: "writev", 23: "select",
        34: "pause", 35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom",
        46: "sendmsg", 47: "recvmsg", 61: "wait4", 65: "semop", 70: "msgrcv", 72: "fcntl",
        73: "flock", 74: "fsync", 75: "fdatasync", 128: "rt_sigtimedwait", 130: "rt_sigsuspend",
        202: "futex", 208: "io_getevents", 220: "semtimedop", 230: "clock_nanosleep",
        232: "epoll_wait", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll",
        281: "epoll_pwait", 288: "accept4", 299: "recvmmsg", 426: "io_uring_enter",
        441: "epoll_pwait2", 449: "futex_waitv"},
    "aarch64": {
        22: "epoll_pwait", 25: "fcntl", 32: "flock", 56: "openat", 63: "read", 64: "write",
        65: "readv", 66: "writev", 67: "pread64", 72: "pselect6", 73: "ppoll", 82: "fsync",
        83: "fdatasync", 95: "waitid", 98: "futex", 101: "nanosleep", 115: "clock_nanosleep",
        133: "rt_sigsuspend", 137: "rt_sigtimedwait", 192: "semtimedop", 193: "semop",
        188: "msgrcv", 202: "accept", 203: "connect", 206: "sendto", 207: "recvfrom",
        211: "sendmsg", 212: "recvmsg", 242: "accept4", 243: "recvmmsg", 260: "wait4",
        426: "io_uring_enter", 441: "epoll_pwait2", 449: "futex_waitv"},
}


@dataclass(frozen=True, slots=True)
class Wait:
    start: int
    end: int
    process: int  # the image of the thread that ended it
    thread: int
    reason: str  # DISK, or the name of a system call


def split(waits: Mapping[str, int] | None) -> tuple[int | None, int | None]:
    """The time of waits for a disk, and for anything else, from their times by reason."""
    if waits is None:
        return None, None
    return waits.get(DISK, 0), sum(waits.values()) - waits.get(DISK, 0)


@dataclass(slots=True)
class _Thread:
    """A thread as of its last record. `resting`: since when, and whether for a disk."""

    process: int
    call: int | None = None
    has_filled: bool = False  # in this call
    resting: tuple[int, bool] | None = None


class Threads:
    """Follows the threads of a start by their records, in order of time."""

    def __init__(self) -> None:
        self._threads: dict[int, _Thread] = {}
        self._changes: list[tuple[int, int]] = []  # times, and the change in running threads
        self._rests: list[Wait] = []
        self._names = _CALLS.get(platform.machine(), {})

    def begin(self, thread: int, process: int, time: int) -> None:
        if thread in self._threads:  # it runs another image
            self._threads[thread].process = process
            return
        self._threads[thread] = _Thread(process)
        self._changes.append((time, 1))

    def see(self, record: records.Record) -> None:
        """Takes a record of a known thread; others are skipped."""
        thread = self._threads.get(record.tid)
        if thread is None:
            return
        if thread.resting and not (isinstance(record, records.Switch) and record.sleeps):
            self._wake(record.tid, thread, *thread.resting, record.time)
        if isinstance(record, records.Exit):
            del self._threads[record.tid]
            self._changes.append((record.time, -1))
        elif isinstance(record, records.Call):
            thread.call, thread.has_filled = record.number, False
        elif isinstance(record, records.Fill):
            thread.has_filled = True
        elif isinstance(record, records.Switch) and record.sleeps and not thread.resting:
            thread.resting = record.time, record.for_disk or thread.call is None
            self._changes.append((record.time, -1))

    def _wake(self, number: int, thread: _Thread, since: int, for_disk: bool, time: int) -> None:
        thread.resting = None
        self._changes.append((time, 1))
        reason = DISK if for_disk or thread.has_filled else self._names.get(
            thread.call or 0, OTHER_CALL)
        self._rests.append(Wait(since, time, thread.process, number, reason))

    def waits(self, start: int) -> list[Wait]:
        """The waits from `start` on, in order of time; a wait that has not ended is left out."""
        ended = {rest.end: rest for rest in self._rests}
        found, running, since = [], 0, None
        for time, change in sorted(self._changes, key=lambda each: (each[0], -each[1])):
            if since is not None and change > 0 and time in ended and since >= start:
                rest = ended[time]
                found.append(Wait(since, time, rest.process, rest.thread, rest.reason))
            running += change
            since = time if running == 0 else None
        return found
