"""Advice on other causes: a start that waits for other things than files."""

from collections import Counter
from collections.abc import Iterator

from frontload.report.sentence import Gain, Sentence, in_words
from frontload.report.start import Start

DISK = "disk"  # the name in frontload-faults/1; all other reasons are system calls
_MIN_SHARE = 0.05  # of the time of the start; less is not worth advice
_MIN_NS = 1_000_000
_MEANINGS = (
    ({"nanosleep", "clock_nanosleep"}, "it sleeps", "sleeps and fixed delays"),
    ({"connect", "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "accept", "accept4"},
     "it talks to the network or to another process",
     "name lookups, connections and services that it asks"),
    ({"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
      "io_uring_enter", "io_getevents"},
     "it waits for events", "answers and time-outs that its event loop waits for"),
    ({"futex", "futex_waitv", "semop", "semtimedop"}, "its threads wait for each other or a lock",
     "locks, and threads that wait for others"),
    ({"flock", "fcntl"}, "it waits for a lock on a file", "other processes with the same lock"),
    ({"wait4", "waitid"}, "it waits for a process", "programs that it starts and waits for"),
    ({"fsync", "fdatasync", "write", "writev"}, "it waits until something is written",
     "what it writes while it starts"),
    ({"read", "readv", "pread64", "openat"}, "it reads from a pipe, a socket or a device",
     "whoever has to answer there"),
)


def others(start: Start) -> Iterator[Sentence]:
    """No layout makes these waits shorter, so users should not expect that of a front."""
    by_phase: Counter[str] = Counter()
    by_call: Counter[str] = Counter()
    for phase in start.recording.phases:
        for reason, time in (phase.waits_ns or {}).items():
            if reason != DISK:
                by_phase[phase.name] += time
                by_call[reason] += time
    total, whole = by_call.total(), start.recording.wall_ns or 0
    if total < max(_MIN_NS, _MIN_SHARE * whole):
        return
    where = in_words([f"{time / 1e6:.0f} ms in {name}" for name, time in by_phase.most_common()])
    told, where_to_look = [], []
    for calls, what, places in sorted(_MEANINGS, key=lambda each: -_sum(by_call, each[0])):
        time = _sum(by_call, calls)
        if time >= _MIN_NS:
            names = [name for name, _ in by_call.most_common() if name in calls]
            told.append(f" For {time / 1e6:.0f} ms {what} ({', '.join(names)}).")
            where_to_look.append(places)
    yield Sentence(
        "waits",
        f"For {total / 1e6:.0f} ms of this start's {whole / 1e6:.0f} ms, none of its threads ran, "
        f"and none waited for a file: {where}.{''.join(told)} No layout makes these times shorter.",
        f"look for {'; '.join(where_to_look)}" if where_to_look else
        "strace -f -T shows what its system calls wait for", Gain())


def _sum(times: Counter[str], calls: set[str]) -> int:
    return sum(times[name] for name in calls)
