"""The traces and startup profiles that a profile is made of: which files, and what each is.

A profile may be made of more traces than fit in memory. So each is read twice: here for its
program, run and role, which are kept; and by merge.py for its touches, which are not.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from frontload.base import files
from frontload.base.errors import EXIT_DATA, BadData, Diagnostics
from frontload.profile import format as profile
from frontload.profile import trace
from frontload.profile.startup_profile import Profile
from frontload.profile.trace import Module, Trace

_LIST = "@"  # marks a list of inputs, as in response files of compilers


@dataclass(frozen=True, slots=True)
class Input:
    """One input. `content`: what was read, unless its file can be read again."""

    path: str
    weight: int
    program: str | None  # None: not recorded in the trace
    modules: tuple[Module, ...] | None  # None: a startup profile
    has_data: bool = False
    role: str = ""
    run: int = 0
    forked: bool = False
    pid: int = 0
    failed: bool = False
    content: Trace | Profile | None = None

    @property
    def is_profile(self) -> bool:
        return self.modules is None

    @property
    def names(self) -> list[str]:
        """The programs and libraries that a profile can be made for."""
        return [self.program or ""] if self.modules is None else [
            module.name for module in self.modules]

    def profile(self) -> Profile:
        return self.content if isinstance(self.content, Profile) else profile.read(self.path)

    def trace(self) -> Trace:
        return self.content if isinstance(self.content, Trace) else trace.read(self.path)

    def module(self, program: str) -> Module | None:
        """The module with the base name or path `program`; of several the main program."""
        found = [module for module in self.modules or () if program in (module.name, module.path)]
        return max(found, key=lambda module: module.main, default=None)


def look_at(path: str, weight: int = 1) -> Input:
    """What must be known of a file before its touches are read."""
    files.must_be_file(path)
    return of(path, _read(path), weight)


def of(path: str, content: Trace | Profile, weight: int = 1, keep: bool = False) -> Input:
    """The same for a file that has been read; its content may be kept."""
    kept = content if keep else None
    if isinstance(content, Profile):
        return Input(path, weight, os.fsdecode(content.program), None, content=kept)
    main = content.main.name if content.main is not None else None
    return Input(path, weight, main, tuple(content.modules), content.has_data, content.role,
                 content.run, content.forked, content.pid, content.failed, kept)


def expand(inputs: Iterable[tuple[str, int]], diagnostics: Diagnostics,
           folders: bool = True) -> Iterator[tuple[str, int]]:
    """The files of inputs with weights: a folder stands for its traces, and @FILE for the inputs
    that FILE lists, unless `folders` is false. Each file comes once, so that its run counts once,
    with the largest of its weights."""
    seen = set()
    for place, weight in sorted(inputs, key=lambda given: -given[1]):
        places = _listed(place) if folders else [place]
        for file in trace.expand(places, code=EXIT_DATA) if folders else places:
            identity = os.path.realpath(file)
            if identity in seen:
                diagnostics.warning(f"{file}: given twice, counted once")
            else:
                yield file, weight
            seen.add(identity)


def _listed(place: str) -> list[str]:
    """The files and folders in a list: one a line, or each with a zero byte behind it, as find
    -print0 writes them; @- is a list on stdin."""
    if not place.startswith(_LIST):
        return [place]
    path = place.removeprefix(_LIST)
    if files.is_stdout(path):  # `-`, which is stdin here
        data = sys.stdin.buffer.read()
    else:
        with files.open_input(path, note="a file whose name begins with @ is ./@...") as stream:
            data = stream.read()
    end = b"\0" if b"\0" in data else b"\n"
    listed = [os.fsdecode(line) for line in data.split(end) if line]
    if not listed:
        raise BadData(path, "lists no inputs", note="make it with: find DIR -name "
                             f"'*{trace.SUFFIX}*' > FILE")
    return listed


def in_runs(inputs: Iterable[Input]) -> list[list[Input]]:
    """Inputs grouped by run: first the process that was executed."""
    found: dict[object, list[Input]] = {}
    for number, given in enumerate(inputs):
        found.setdefault(("run", given.run) if given.run else number, []).append(given)
    for together in found.values():
        together.sort(key=lambda each: (each.forked, each.pid, each.path))
    return list(found.values())


def failed_as_one(runs: list[list[Input]], program: str) -> list[list[Input]]:
    """The same runs, but those that failed, as usage errors and crashes do, are one run together,
    unless all runs of the program did: a test suite may have more of them than of others."""
    failed = [run for run in runs if run[0].failed]
    others = [run for run in runs if not run[0].failed]
    if not failed or not any(run[0].is_profile or run[0].module(program) for run in others):
        return runs
    return [*others, sorted((each for run in failed for each in run),
                            key=lambda each: (each.run, each.forked, each.pid, each.path))]


def _read(path: str) -> Trace | Profile:
    with files.open_input(path, note="make a trace with: frontload record -- CMD") as stream:
        start = stream.read(len(profile.MAGIC))
    return profile.read(path) if start.startswith(profile.MAGIC) else trace.read(path)
