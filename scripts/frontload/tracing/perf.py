"""perf, the recorder of faults: finds it, and tries out which of its events it may record here.

Why perf: page faults are software events, for which no user needs privileges, and its records show
which process maps which file where, over a whole process tree. The kernel's developers maintain it
with the kernel. Events that need privileges (tracepoints: fills, requests, the kind of an access)
are recorded as well where that is permitted.

Each kind of event is tried out with a program that does nothing, because permissions, containers
and kernel settings interact in ways that no setting shows.
"""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from frontload.base.missing import Missing
from frontload.base.scratch import scratch_folder

FAULTS = ("major-faults", "minor-faults")
FILLS = "filemap:mm_filemap_add_to_page_cache"
# They tell read fills from written ones. The older name is before Linux 5.18.
WRITES, OLDER_WRITES = "writeback:writeback_dirty_folio", "writeback:writeback_dirty_page"
REQUESTS = "block:block_rq_issue"
EXECS = ("syscalls:sys_enter_execve", "syscalls:sys_enter_execveat")
# They have the kind of an access, in the processor's error codes: only where we know these.
ACCESSES = ("exceptions:page_fault_user", "exceptions:page_fault_kernel")
# The events of threads that do not run.
RESTS = ("sched:sched_switch", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit")
_ACCESS = "whether a fault was a read or a write"
# What root may record: the events, or others in their place, and what is missing without them.
_TRACEPOINTS = (
    (((FILLS, WRITES), (FILLS, OLDER_WRITES)), "page-cache fills"),
    ((EXECS,), "the beginning of exec"), ((ACCESSES,), _ACCESS),
    ((RESTS,), "what the start waits for"))
_A_BREAKPOINT = "mem:0x1000:x:u"

GET_PERF = "install it: apt-get install linux-perf"
_GET_FAULTS = "sysctl kernel.perf_event_paranoid=2 (or less); in a container: --cap-add=PERFMON"
_GET_TRACEPOINTS = "record as root"
# Records wait in a buffer for each processor until perf writes them down. Without privileges the
# kernel gives 516 KiB (kernel.perf_event_mlock_kb), of which the data must be a power of two.
_SMALL_BUFFER_KIB = 512
_BUFFERS_KIB, _LARGE_BUFFER_KIB = 64 << 10, 16 << 10


@dataclass(frozen=True)
class Recorder:
    """What perf records here. `events` are the command's, `requests` the system's."""

    tool: str  # "perf 6.1.187"
    events: tuple[str, ...] = ()
    requests: bool = False
    breakpoints: bool = False
    buffer_kib: int = _SMALL_BUFFER_KIB
    missing: tuple[Missing, ...] = field(default=())

    def command(self, output: os.PathLike[str] | str, events: Sequence[str],
                *options: str) -> list[str]:
        """The command that records the command that follows it."""
        return ["perf", "record", "--quiet", "--no-buildid", "--no-buildid-cache", "--synth=no",
                "--no-bpf-event",
                "--clockid=monotonic", f"--mmap-pages={self.buffer_kib}K",
                f"--output={os.fspath(output)}", "--event", ",".join(events), *options, "--"]


def find() -> Recorder:
    """Tries out what perf can record."""
    found = None
    if is_there := shutil.which("perf") is not None:
        found = re.search(r"perf version (\S+)", subprocess.run(
            ("perf", "version"), stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            errors="replace").stdout)
    if not found:
        why = "perf does not run" if is_there else "perf: not found"
        return Recorder("none", missing=(Missing("faults, fills, requests and phases", why,
                                                 GET_PERF),))
    # Locked, because others remove unlocked folders with this prefix.
    with scratch_folder("frontload-faults.") as folder:
        return _try_out(f"perf {found[1]}", folder)


def _try_out(tool: str, folder: Path) -> Recorder:
    missing: list[Missing] = []

    def problem_with(events: Sequence[str], *options: str) -> str | None:
        """Why these events cannot be recorded; None if they can."""
        return _run(*Recorder(tool).command(folder / "trial.data", events, *options), "true")

    known = platform.machine() in ("x86_64", "i686")
    if not known:
        missing.append(Missing(_ACCESS, "Frontload does not know the error codes of faults on "
                               f"{platform.machine()}", "record on x86-64"))
    rows = [row for row in _TRACEPOINTS if known or row[1] != _ACCESS]
    # Where everything is permitted, as to root, one trial is enough.
    everything = (*FAULTS, *(event for row in rows for event in row[0][0]))
    if not problem_with((*everything, _A_BREAKPOINT)) \
            and not problem_with((REQUESTS,), "--all-cpus"):
        return Recorder(tool, everything, True, True, _buffer_kib(), tuple(missing))
    # Asked for both modes, perf silently uses the permitted one.
    not_in_kernel = problem_with([f"{event}:k" for event in FAULTS])
    events = [f"{event}:u" for event in FAULTS] if not_in_kernel else list(FAULTS)
    if problem := problem_with(events):
        missing.append(Missing("faults, fills, requests and phases", problem, _GET_FAULTS))
        return Recorder(tool, missing=tuple(missing))
    if not_in_kernel:
        missing.append(Missing("faults taken in kernel mode", not_in_kernel, "sysctl "
                               "kernel.perf_event_paranoid=1 (or less), or record as root"))
    for alternatives, what in rows:
        problems = list(map(problem_with, alternatives))
        if None in problems:
            events += alternatives[problems.index(None)]
        else:
            missing.append(Missing(what, str(problems[0]), _GET_TRACEPOINTS))
    if no_requests := problem_with((REQUESTS,), "--all-cpus"):
        missing.append(Missing("block requests", no_requests, _GET_TRACEPOINTS))
    if no_breakpoints := problem_with((_A_BREAKPOINT,)):
        missing.append(Missing("phases after exec", f"no hardware breakpoints: {no_breakpoints}",
                               "record on a machine (or virtual machine) that has them"))
    return Recorder(tool, tuple(events), not no_requests, not no_breakpoints, _buffer_kib(),
                    tuple(missing))


def _buffer_kib() -> int:
    """Large where the kernel allows any size, but a small part of the memory of large machines."""
    if os.geteuid():
        return _SMALL_BUFFER_KIB
    share = _BUFFERS_KIB // (os.cpu_count() or 1)
    return max(_SMALL_BUFFER_KIB, min(_LARGE_BUFFER_KIB, 1 << (share.bit_length() - 1)))


def _run(*command: str) -> str | None:
    """Why a command fails; None if it does not."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                encoding="utf-8", errors="replace")
    except OSError as problem:
        return f"{command[0]}: {problem.strerror}"
    if result.returncode == 0:
        return None
    # perf explains at length; one line names the problem.
    said = [line.strip().lstrip("\\_ ") for line in result.stderr.splitlines() if line.strip()]
    telling = [line for line in said if re.search(r"permission|permitted|is limited|denied|"
                                                  r"not supported|unknown|no such", line, re.I)]
    return next(iter(telling or said), f"exit status {result.returncode}")
