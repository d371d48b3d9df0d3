"""Which files a command reads: libraries, configuration, inputs; of all processes that it starts.

They cannot be listed from outside, so we watch one run: strace shows which files were opened or
executed. An opened file need not be read. So we drop all of them from the page cache and run the
command once more. Files count as seen if pages of them have come in. Files that could not be
dropped, such as a C library that every process has mapped, also count as seen, and stay warm.

We do not see files whose residency the kernel hides from us (of other owners, without root), or
files that are not on a disk.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from frontload.base.errors import Failure
from frontload.base.missing import Missing
from frontload.base.scratch import scratch_folder
from frontload.elf import dependencies
from frontload.measure.conditions import COLD, SELECTIVELY_COLD
from frontload.measure.launcher import Launcher
from frontload.measure.plan import Plan
from frontload.pagecache import cache as pagecache
from frontload.pagecache import mounts
from frontload.tracing import strace
from frontload.tracing.strace import Call

REMEDY = "install strace (apt-get install strace), and allow ptrace; or name the files with --evict"
_EXECUTE, _OPEN, _ENTER = ("execve", "execveat"), ("open", "openat", "openat2"), ("chdir", "fchdir")
_MAP = "mmap"
_WRITTEN = {"O_WRONLY", "O_RDWR"}
_NOT_READ = {"O_WRONLY", "O_PATH", "O_DIRECTORY"}
_MAX_LINKS = 8  # from one interpreter to the next


@dataclass(frozen=True)
class Seen:
    files: tuple[str, ...]  # without files that were known before
    invisible: tuple[str, ...] = field(default=())  # perhaps read, but hidden by the kernel


def look(plan: Plan, launcher: Launcher) -> tuple[Plan, list[Missing]]:
    """The plan with the files that each variant is seen to read, if it needs to know them."""
    wanted = plan.evict_seen and SELECTIVELY_COLD in plan.conditions
    if not wanted and COLD not in plan.conditions:
        return plan, []
    variants = []
    invisible: dict[str, None] = {}
    for variant in plan.variants:
        try:
            seen = find(variant.command, variant.files, launcher)
        except Failure as problem:
            if wanted:
                raise
            return plan, [Missing("what of the files that the runs read stayed in the page cache",
                                  problem.message, problem.note or REMEDY)]
        variants.append(replace(variant, seen=seen.files))
        invisible |= dict.fromkeys(seen.invisible)
    missing = []
    if invisible:
        missing.append(Missing(f"the eviction of what the runs also opened: {', '.join(invisible)}",
                               "the kernel tells only those who own a file or may write to it "
                               "whether that worked", "measure as root"))
    return replace(plan, variants=tuple(variants)), missing


def find(command: Sequence[str], known: Sequence[str], launcher: Launcher,
         cache: ModuleType = pagecache) -> Seen:
    """The files that a run of `command` reads besides the `known` ones."""
    if launcher.waits_for_function:  # ptrace allows one tracer at a time
        raise Failure("strace cannot watch a program that is watched for a function",
                      note="say otherwise when it is ready, or name the files with --evict")
    skip = {os.path.realpath(file) for file in known}
    candidates = [file for file in opened(command, launcher) if file not in skip]
    visible = [file for file in candidates if cache.may_look(file)]
    stayed = cache.try_to_drop(*visible)
    with open(os.devnull, "wb") as sink:
        launcher.run(command, stdout=sink)
    cache.settle(*visible)
    used = tuple(file for file, left in zip(visible, stayed, strict=True)
                 if left or cache.residency(file).resident_pages)
    return Seen(used, tuple(file for file in candidates if file not in visible))


def opened(command: Sequence[str], launcher: Launcher, *, only_read: bool = False
           ) -> dict[str, bool]:
    """The regular files on disks that the processes of a command open for reading or execute, and
    whether a process maps each, as the dynamic loader does. With `only_read`, without those that
    they also write or replace: each run makes these again, and has no place for them where a copy
    covers the old file."""
    began = time.time_ns()
    with scratch_folder("frontload-measure.") as folder:
        with open(os.devnull, "wb") as sink:
            sample = launcher.run(
                [*strace.watching([*_EXECUTE, *_OPEN, *_ENTER, _MAP], folder / "calls", "-ff",
                                  remedy=REMEDY), *command], stdout=sink)
        logs = [log.read_text("ascii", "replace").splitlines()
                for log in sorted(folder.glob("calls.*"))]
    calls = [call for log in logs for call in strace.calls(log)]
    names = read_calls(calls, os.getcwd())
    if not names:
        raise Failure(f"{command[0]}: strace could not watch it: {sample.complaint}", note=REMEDY)
    found: dict[str, None] = {}
    for name in names:
        _add(name, found)
    if only_read:
        written = {os.path.realpath(call.opened) for call in calls
                   if call.name in _OPEN and call.opened and call.flags & _WRITTEN}
        found = {file: None for file in found
                 if file not in written and os.stat(file).st_mtime_ns < began}
    mapped = {call.opened for call in calls if call.name == _MAP and call.opened}
    return {file: file in mapped for file in sorted(found)
            if mounts.file_system(file) not in mounts.IN_MEMORY}


def read_calls(calls: Sequence[Call], folder: str) -> list[str]:
    """The paths of files that were opened or executed.

    A program that is executed by a relative path may be any of several files, one in each folder
    that processes were in. An extra file does no harm.
    """
    folders = _folders(calls, folder)
    found: dict[str, None] = {}
    for call in calls:
        if call.name in _EXECUTE and call.result == 0 and call.path is not None:
            for start in [call.base] if call.base else folders:  # base may be the program itself
                found[os.path.join(start, call.path) if call.path else start] = None
        elif call.name in _OPEN and call.opened and not call.flags & _NOT_READ:
            found[call.opened] = None
    return [name for name in found if os.path.isabs(name)]


def _folders(calls: Iterable[Call], start: str) -> list[str]:
    """The folders of processes: printed with most calls, but not between a chdir and an exec."""
    named = [start]
    for call in calls:
        folder = call.path or call.base if call.name in _ENTER else call.is_in_folder and call.base
        if folder:
            named.append(folder)
    absolute = list(dict.fromkeys(name for name in named if os.path.isabs(name)))
    relative = dict.fromkeys(name for name in named if not os.path.isabs(name))
    return absolute + [os.path.join(folder, name) for name in relative for folder in absolute]


def _add(name: str, found: dict[str, None]) -> None:
    """Adds a file, and the files that the kernel reads to execute it."""
    for file in _with_interpreters(name):
        real = os.path.realpath(file)
        if os.path.isfile(real) and os.path.getsize(real) and os.access(real, os.R_OK):
            found[real] = None


def _with_interpreters(name: str) -> Iterator[str]:
    for _ in range(_MAX_LINKS):
        yield name
        if not os.path.isfile(name) or not os.access(name, os.R_OK):
            return
        interpreter = dependencies.interpreter(name)
        if interpreter is None:
            return
        name = interpreter
