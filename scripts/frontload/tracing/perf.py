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
_A_BREAKPOINT = "mem:0x1000:x:u"

GET_PERF = "install it: apt-get install linux-perf"
_GET_FAULTS = "sysctl kernel.perf_event_paranoid=2 (or less); in a container: --cap-add=PERFMON"
_GET_TRACEPOINTS = "record as root"
_TRACEFS = "/sys/kernel/tracing"
# Records wait in a buffer for each processor until perf writes them down. Without privileges the
# kernel gives 516 KiB (kernel.perf_event_mlock_kb), of which the data must be a power of two.
_SMALL_BUFFER_KIB = 512
_BUFFERS_KIB, _LARGE_BUFFER_KIB = 64 << 10, 16 << 10


@dataclass(frozen=True)
class Recorder:
    """What perf records here. `events` are the command's, `requests` the system's."""

    tool: str  # "perf 6.1.187"
    prefix: tuple[str, ...] = ()  # of perf itself, if it needs one
    events: tuple[str, ...] = ()
    requests: bool = False
    breakpoints: bool = False
    buffer_kib: int = _SMALL_BUFFER_KIB
    missing: tuple[Missing, ...] = field(default=())

    @property
    def works(self) -> bool:
        return bool(self.events)

    def command(self, output: os.PathLike[str] | str, events: Sequence[str],
                *options: str) -> list[str]:
        """The command that records the command that follows it."""
        return ["perf", "record", "--quiet", "--no-buildid", "--no-buildid-cache", "--synth=no",
                "--no-bpf-event",
                "--clockid=monotonic", f"--mmap-pages={self.buffer_kib}K",
                f"--output={os.fspath(output)}", "--event", ",".join(events), *options, "--"]


def find() -> Recorder:
    """Tries out what perf can record."""
    version = _output("perf", "version")
    found = re.search(r"perf version (\S+)", version)
    if not found:
        why = "perf: not found" if shutil.which("perf") is None else "perf does not run"
        return Recorder("none", missing=(Missing("faults, fills, requests and phases", why,
                                                 GET_PERF),))
    # Locked, because others remove unlocked folders with this prefix.
    with scratch_folder("frontload-faults.") as folder:
        return _Trial(f"perf {found[1]}", folder).result()


class _Trial:
    def __init__(self, tool: str, folder: Path):
        self._tool, self._folder = tool, folder
        self._missing: list[Missing] = []
        self._prefix: tuple[str, ...] = ()
        # perf mounts it for all if it can; we leave nothing behind.
        if os.geteuid() == 0 and not tracefs_is_mounted():
            private = ("unshare", "--mount", "--propagation=private")
            mounting = (*private, "sh", "-c",
                        f'mount -t tracefs tracefs {_TRACEFS} && exec "$@"', "sh")
            for prefix in (mounting, private):
                if _run(*prefix, "true") is None:
                    self._prefix = prefix
                    break

    def result(self) -> Recorder:
        known = _known_accesses()
        tracepoints = (FILLS, WRITES, *EXECS, *known, *RESTS)
        # Where everything is permitted, as to root, one trial is enough.
        if self._try((*FAULTS, *tracepoints, _A_BREAKPOINT)) is None \
                and self._try((REQUESTS,), "--all-cpus") is None:
            if not known:
                self._lacks_accesses()
            return Recorder(self._tool, self._prefix, (*FAULTS, *tracepoints), True, True,
                            _buffer_kib(), tuple(self._missing))
        return self._piecemeal()

    def _piecemeal(self) -> Recorder:
        # Asked for both modes, perf silently uses the permitted one.
        not_in_kernel = self._try(_in_mode("k"))
        events = list(_in_mode("u") if not_in_kernel else FAULTS)
        if problem := self._try(events):
            self._lacks("faults, fills, requests and phases", problem, _GET_FAULTS)
            return Recorder(self._tool, missing=tuple(self._missing))
        if not_in_kernel:
            self._lacks("faults taken in kernel mode", not_in_kernel,
                        "sysctl kernel.perf_event_paranoid=1 (or less), or record as root")
        events += self._tracepoints((FILLS,), "page-cache fills")
        if FILLS in events:
            events += [OLDER_WRITES] if self._try((OLDER_WRITES,)) is None else \
                self._tracepoints((WRITES,), "which fills were written, not read")
        events += self._tracepoints(EXECS, "the beginning of exec")
        if known := _known_accesses():
            events += self._tracepoints(known, "whether a fault was a read or a write")
        else:
            self._lacks_accesses()
        events += self._tracepoints(RESTS, "what the start waits for")
        if no_requests := self._try((REQUESTS,), "--all-cpus"):
            self._lacks("block requests", no_requests, _GET_TRACEPOINTS)
        if no_breakpoints := self._try((_A_BREAKPOINT,)):
            self._lacks("phases after exec", f"no hardware breakpoints: {no_breakpoints}",
                        "record on a machine (or virtual machine) that has them")
        return Recorder(self._tool, self._prefix, tuple(events), not no_requests,
                        not no_breakpoints, _buffer_kib(), tuple(self._missing))

    def _tracepoints(self, events: Sequence[str], what: str) -> Sequence[str]:
        problem = self._try(events)
        if problem is None:
            return events
        self._lacks(what, problem, _GET_TRACEPOINTS)
        return ()

    def _try(self, events: Sequence[str], *options: str) -> str | None:
        """Why these events cannot be recorded; None if they can."""
        trial = Recorder(self._tool).command(self._folder / "trial.data", events, *options)
        return _run(*self._prefix, *trial, "true")

    def _lacks(self, what: str, why: str, remedy: str) -> None:
        self._missing.append(Missing(what, why, remedy))

    def _lacks_accesses(self) -> None:
        self._lacks("whether a fault was a read or a write",
                    f"Frontload does not know the error codes of faults on {platform.machine()}",
                    "record on x86-64")


def _known_accesses() -> tuple[str, ...]:
    return ACCESSES if platform.machine() in ("x86_64", "i686") else ()


def _in_mode(mode: str) -> tuple[str, ...]:
    return tuple(f"{event}:{mode}" for event in FAULTS)


def _buffer_kib() -> int:
    """Large where the kernel allows any size, but a small part of the memory of large machines."""
    if os.geteuid():
        return _SMALL_BUFFER_KIB
    share = _BUFFERS_KIB // (os.cpu_count() or 1)
    return max(_SMALL_BUFFER_KIB, min(_LARGE_BUFFER_KIB, 1 << (share.bit_length() - 1)))


def tracefs_is_mounted() -> bool:
    lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    return any(line.split()[2] == "tracefs" for line in lines)


def _run(*command: str) -> str | None:
    """Why a command fails; None if it does not."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                encoding="utf-8", errors="replace")
    except OSError as problem:
        return f"{command[0]}: {problem.strerror}"
    if result.returncode == 0:
        return None
    said = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    return _most_telling(said) or f"exit status {result.returncode}"


def _most_telling(lines: list[str]) -> str:
    """The line of perf's long explanation that names the problem."""
    lines = [line.lstrip("\\_ ") for line in lines]
    telling = [line for line in lines if re.search(r"permission|permitted|is limited|denied|"
                                                   r"not supported|unknown|no such", line, re.I)]
    return (telling or lines or [""])[0]


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace").stdout
    except OSError:
        return ""
