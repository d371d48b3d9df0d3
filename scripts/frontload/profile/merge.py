"""Makes one startup profile out of traces and other startup profiles.

A run is what one execution of the program touched, its forked children included: each has a trace
of its own, which says what run it is part of. Recorders that do not say that (frontload_trace.h
before 1.2) made one run of each trace. A profile is for one linked file, its program: the main
program of the traces, or a shared library that they recorded as a module. Each trace is resolved
with the binary that it was recorded from, so runs of different builds merge by name.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from frontload.base import errors, files
from frontload.base.errors import EXIT_DATA, Failure
from frontload.profile import format as profile
from frontload.profile import instrumented, trace
from frontload.profile.binaries import Binaries
from frontload.profile.format import Profile
from frontload.profile.trace import Module, Trace

_LISTED = 12  # programs, or roles, that an error names


def expand(inputs: Iterable[tuple[str, int]],
           folders: bool = True) -> Iterator[tuple[str, int]]:
    """The files that inputs with weights stand for: a folder stands for the traces in it, unless
    `folders` is false. No file comes twice, because that would count its run twice; of its weights
    the largest counts."""
    seen = set()
    for path, weight in sorted(inputs, key=lambda given: -given[1]):
        for file in trace.expand([path], code=EXIT_DATA) if folders else [path]:
            identity = os.path.realpath(file)
            if identity in seen:
                errors.warning(f"{file}: given twice, counted once")
            else:
                yield file, weight
            seen.add(identity)


@dataclass(frozen=True)
class _Input:
    path: str
    content: Trace | Profile
    program: str | None  # None if the trace does not say
    modules: list[str]  # all that a profile can be made for
    weight: int


class Merger:
    """Reads inputs (`add`), then makes the profile of one program out of them (`result`).

    program: base name or path of the linked file; None if all inputs are of the same program
    binary: the linked file, in place of the recorded path
    link_map: the map of its link, which names the data that has no symbol
    allow_partial: an input that cannot be used is left out, with a warning
    roles: of the traces, only those of processes with one of these roles; none: all
    """

    def __init__(self, program: str | None = None, binary: str | None = None,
                 link_map: str | None = None, allow_partial: bool = False,
                 roles: Iterable[str] = ()):
        self._program = program
        self._binaries = Binaries(binary)
        self._map = link_map
        self._allow_partial = allow_partial
        self._wanted_roles = set(roles)
        self._roles: Counter[str] = Counter()  # of all traces
        self._given = self._lost = 0
        self._inputs: list[_Input] = []
        self._left_out: set[profile.Name] = set()
        self._counts: Counter[str] = Counter()

    def add(self, path: str, weight: int = 1) -> None:
        """Reads one input; each of its runs counts as `weight` runs."""
        with self.one_input():
            self.add_content(path, _read(path), weight)

    @contextmanager
    def one_input(self) -> Iterator[None]:
        """While one input is read: its failure ends the work, or only this input."""
        self._given += 1
        with self._tolerance():
            yield

    def add_content(self, path: str, content: Trace | Profile, weight: int = 1) -> None:
        """Adds what was read from an input; each of its runs counts as `weight` runs."""
        if isinstance(content, Profile):
            program = os.fsdecode(content.program)
            self._inputs.append(_Input(path, content, program, [program], weight))
        else:
            self._roles[content.role] += 1
            if self._wanted_roles and content.role not in self._wanted_roles:
                return
            main = content.main.name if content.main is not None else None
            modules = [module.name for module in content.modules]
            self._inputs.append(_Input(path, content, main, modules, weight))

    def result(self) -> Profile:
        """The merged profile; says on stderr what is not in it."""
        self._check_roles()
        program = self._choose_program()
        # For all traces if for any, or names would depend on which of them came first.
        if any(isinstance(given.content, Trace) and given.content.has_data
               for given in self._inputs):
            self._binaries.link_map = self._map
        merged = Profile(os.fsencode(os.path.basename(program)), 0)
        for given in self._runs():
            part = self._part(given, program)
            if part is not None:
                merged.add(part, given[0].weight)
        self._report(program)
        if not merged.touches:
            raise Failure(f"{program}: no first touch in the inputs has a name",
                          code=EXIT_DATA, note="record again; for --with runtime, build with "
                          "-finstrument-functions and link libfrontload-rt")
        return merged

    def _runs(self) -> list[list[_Input]]:
        """The inputs, those together that are of one run: first the process that was executed."""
        found: dict[object, list[_Input]] = {}
        for number, given in enumerate(self._inputs):
            run = given.content.run if isinstance(given.content, Trace) else 0
            found.setdefault(("run", run) if run else number, []).append(given)
        for together in found.values():
            if len(together) > 1:
                together.sort(key=lambda each: (each.content.forked, each.content.pid, each.path))
                # Who gives some of them a weight means the run.
                together[0] = replace(together[0], weight=max(each.weight for each in together))
        return list(found.values())

    @contextmanager
    def _tolerance(self) -> Iterator[None]:
        """Turns the failure of one input into a warning, where that is allowed."""
        try:
            yield
        except Failure as problem:
            if not self._allow_partial:
                raise
            self._lost += 1
            errors.warning(f"{problem}: this input is left out")

    def _check_roles(self) -> None:
        missing = sorted(self._wanted_roles - self._roles.keys())
        if missing:
            there = Counter({role or "none": count for role, count in self._roles.items()})
            raise Failure(f"no trace is of a process with the role {missing[0]!r}", code=EXIT_DATA,
                          note=f"the roles of these traces: {_list(there)}" if there else
                          "give traces: startup profiles have no roles")

    def _choose_program(self) -> str:
        if not self._inputs:
            raise Failure("none of the inputs can be used", code=EXIT_DATA, note="record again")
        wanted = self._program and self._named(self._program)
        if wanted is not None:
            modules = Counter(name for given in self._inputs for name in given.modules)
            if os.path.basename(wanted) not in modules:
                raise Failure(f"{wanted}: no input belongs to this program", code=EXIT_DATA,
                              note=f"choose one of these with --program NAME: {_list(modules)}")
            return wanted
        programs = Counter(given.program for given in self._inputs if given.program is not None)
        if len(programs) > 1:
            raise Failure(f"the inputs are of {len(programs)} programs: {_list(programs)}",
                          note="choose one with --program NAME")
        if not programs:
            raise Failure("no input says which program it belongs to", code=EXIT_DATA,
                          note="record again, or choose a module with --program NAME")
        return next(iter(programs))

    def _named(self, wanted: str) -> str:
        """What a name or path stands for: the name, wherever the file was recorded, unless a trace
        has several modules of that name, of which only the path can choose."""
        name = os.path.basename(wanted)
        paths = {wanted, os.path.abspath(wanted), os.path.realpath(wanted)}
        for given in self._inputs:
            if isinstance(given.content, Trace) and wanted != name:
                alike = [module for module in given.content.modules if module.name == name]
                chosen = [module for module in alike if module.path in paths]
                if len(alike) > 1 and chosen:
                    return chosen[0].path
        return name

    def _part(self, run: list[_Input], program: str) -> Profile | None:
        """What a run has of the program; None, counted, if it has nothing. Of its processes, one
        that cannot be used takes no other with it."""
        first = run[0].content
        if isinstance(first, Profile):
            if run[0].program == os.path.basename(program):
                return first
            self._counts["other"] += 1
            return None
        touched: dict[profile.Name, profile.Touched] = {}
        name, data, knows_cold_parts = "", False, True
        for given in run:
            module = _module(given.content, program)
            if module is None:
                self._counts["other" if len(given.content.kinds) else "empty"] += 1
                continue
            with self._tolerance():
                resolved, collects = self._resolved(given, module)
                for entry, touch in resolved.items():
                    touched[entry] = touched.get(entry, profile.Touched()).merged(touch)
                name, data = module.name, data or given.content.has_data
                knows_cold_parts &= not collects
        if not touched:
            return None
        made = profile.from_run(os.fsencode(name), touched, data)
        made.knows_cold_parts = knows_cold_parts
        return made

    def _resolved(self, given: _Input,
                  module: Module) -> tuple[dict[profile.Name, profile.Touched], bool]:
        """The names that a trace has of a module, and whether that collects a compiler's profile.
        """
        trace = given.content
        mine = trace.owners == trace.modules.index(module)
        touched, collects = {}, False
        if mine.any():
            binary = self._binaries.of(module, trace.path)
            resolved = binary.resolver.resolve(trace.kinds[mine], trace.addresses[mine])
            touched, collects = resolved.touched, binary.collects
            if collects:
                touched = instrumented.without(touched)
                self._left_out |= resolved.touched.keys() - touched.keys()
            self._counts.update(nameless=resolved.nameless, nameless_data=resolved.nameless_data)
        self._counts.update(touches=np.count_nonzero(mine), dropped=trace.dropped,
                            data=trace.has_data, ownerless=trace.ownerless, empty=not touched)
        return touched, collects

    def _report(self, program: str) -> None:
        def touches(what: str) -> str:
            return f"{program}: " + errors.count(self._counts[what], "first touch", "first touches")

        if self._lost:
            errors.warning(f"{self._lost} of {errors.count(self._given, 'input')} left out")
        if self._counts["dropped"]:
            errors.warning(f"{touches('dropped')} lost, because the recorder had no room for more")
        if self._counts["ownerless"]:
            errors.warning(f"{touches('ownerless')} lost: the record of their module is incomplete")
        if self._left_out:
            errors.note(f"{program}: was built to collect a compiler's profile; left out what only "
                        "that build has, and cold parts: "
                        f"{errors.count(len(self._left_out), 'name')}")
        if self._counts["nameless"]:
            errors.note(f"{touches('nameless')} of {self._counts['touches']} without a symbol")
        if self._counts["nameless_data"] and self._map is None:
            errors.note(f"{self._counts['nameless_data']} of these are of data: --map FILE gives "
                        "constants and strings a name; link with -Wl,-Map=FILE")
        if self._map is not None and not self._counts["data"]:
            errors.warning(f"{self._map}: not used, because no trace of {program} has data")
        if self._counts["empty"]:
            errors.note(f"{program}: {errors.count(self._counts['empty'], 'trace')} without a "
                        "named first touch left out")
        if self._counts["other"]:
            errors.note(f"{program}: {errors.count(self._counts['other'], 'input')} of other "
                        "programs left out")


def _read(path: str) -> Trace | Profile:
    with files.open_input(path, note="make a trace with: frontload record -- CMD") as stream:
        start = stream.read(len(profile.MAGIC))
    return profile.read(path) if start.startswith(profile.MAGIC) else trace.read(path)


def _module(run: Trace, program: str) -> Module | None:
    """The module that `program` names, by base name or path; of several the main program."""
    found = [module for module in run.modules if program in (module.name, module.path)]
    return max(found, key=lambda module: module.main, default=None)


def _list(names: Counter[str]) -> str:
    shown = sorted(names.items(), key=lambda item: (-item[1], item[0]))[:_LISTED]
    rest = len(names) - len(shown)
    return (", ".join(f"{name} ({count})" for name, count in shown)
            + (f" and {rest} more" if rest else ""))
