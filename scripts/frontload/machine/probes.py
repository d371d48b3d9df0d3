"""Tests what this machine allows: each probe does the thing itself, because permissions, containers
and kernel settings interact in ways that no setting shows."""

import ctypes
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.files import read_text
from frontload.base.tools import failure_of, find_tool
from frontload.device import cold_device, throttle
from frontload.pagecache import cache as pagecache
from frontload.tracing import perf

HOW_TO_GET_FRONTLOAD = "install a package of Frontload, or put its bin folder in PATH"
_PTRACE_SEIZE = 0x4206


@dataclass(frozen=True)
class Ability:
    """Something that Frontload uses. `remedy` is empty where `works`."""

    what: str
    works: bool
    detail: str
    remedy: str = ""


def abilities() -> list[Ability]:
    return [ptrace(), _tracer(), valgrind(), *_perf(), eviction(), drop_caches(), strace(),
            slow_device()]


def ptrace() -> Ability:
    what = "ptrace (record)"
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    child = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL)
    try:
        failed = libc.ptrace(_PTRACE_SEIZE, child.pid, None, None)
        reason = os.strerror(ctypes.get_errno())
    finally:
        child.kill()
        child.wait()
    if not failed:
        return Ability(what, True, "a child can be traced")
    setting = Path("/proc/sys/kernel/yama/ptrace_scope")
    scope = setting.read_text("ascii").strip() if setting.exists() else "0"
    if scope in ("2", "3"):
        return Ability(what, False, f"{reason}: kernel.yama.ptrace_scope is {scope}",
                       "record as root, or: sysctl kernel.yama.ptrace_scope=1 (not from 3)")
    return Ability(what, False, reason,
                   "in a container: start it with --cap-add=SYS_PTRACE; or build the program with "
                   "-finstrument-functions and: frontload record --with runtime")


def _tracer() -> Ability:
    what = "frontload-trace (record)"
    path = find_tool("frontload-trace")
    if path is None:
        return Ability(what, False, "not found", HOW_TO_GET_FRONTLOAD)
    return Ability(what, True, str(path))


def valgrind() -> Ability:
    what = "frontload-valgrind (record --data)"
    path = find_tool("frontload-valgrind")
    if path is None:
        return Ability(what, False, "not found",
                       "install valgrind, with its archives and headers, and build Frontload again")
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([path, f"--output={folder.replace('%', '%%')}/%p", "--", "true"],
                                stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                                errors="replace")
    if result.returncode:
        reason = result.stderr.strip().partition("\n")[0] or f"exit status {result.returncode}"
        return Ability(what, False, reason.removeprefix("frontload-valgrind: error: "),
                       failure_of("frontload-valgrind", result.returncode, result.stderr,
                                  "install it again: apt-get install valgrind").note or "")
    return Ability(what, True, str(path))


def _perf() -> list[Ability]:
    what, more = "perf (faults)", "perf's tracepoints and breakpoints (faults)"
    recorder = perf.find()
    lacking = [Ability(more, False, f"{missing.what}: {missing.why}", missing.remedy)
               for missing in recorder.missing]
    if not recorder.events:
        return [Ability(what, False, missing.why, missing.remedy) for missing in recorder.missing]
    return [Ability(what, True, f"{recorder.tool} records page faults"),
            *(lacking or [Ability(more, True, "fills, requests, and the phases of a start")])]


def eviction() -> Ability:
    what = "eviction of a file from the page cache (measure)"
    remedy = "keep what is measured on a disk: set TMPDIR to a folder there, and try again"
    try:
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR", "/var/tmp")) as file:
            file.write(bytes(1 << 20))
            file.flush()
            pagecache.make_cold(file.name)
    except (Failure, OSError) as problem:
        return Ability(what, False, str(problem), remedy)
    return Ability(what, True, "verified with a file of 1 MiB")


def drop_caches() -> Ability:
    what = "drop_caches (measure --cold)"
    if pagecache.may_drop_everything():
        return Ability(what, True, "/proc/sys/vm/drop_caches can be written")
    return Ability(what, False, "/proc/sys/vm/drop_caches cannot be written",
                   "measure as root, or with --selectively-cold --evict-seen")


def strace() -> Ability:
    what = "strace (measure --evict-seen)"
    try:
        result = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"],
                                stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                                errors="replace")
    except OSError as problem:
        return Ability(what, False, problem.strerror or str(problem),
                       "install it: apt-get install strace")
    if result.returncode:
        reason = result.stderr.strip().partition("\n")[0] or f"exit status {result.returncode}"
        return Ability(what, False, reason, "allow ptrace (above), or name the files with --evict")
    return Ability(what, True, "it can watch a child")


def slow_device() -> Ability:
    what = "slow devices (measure --device)"
    if obstacle := cold_device.obstacle():
        return Ability(what, False, obstacle, "measure as root, outside a chroot or container")
    hierarchy = throttle.hierarchy(read_text("/proc/self/mountinfo"))
    if hierarchy is None:
        return Ability(what, False, "no cgroup controller blkio (version 1) or io (version 2)",
                       "mount one, or use --device custom without limits")
    return Ability(what, True, f"loop devices, and version {hierarchy[0]} of cgroups to slow them")
