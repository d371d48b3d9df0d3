"""Makes one startup profile out of traces and other startup profiles.

A run is all touches of one execution of the program, its forked children included: each process has
its own trace, which records its run. Recorders without that (frontload_trace.h before 1.2) made one
run of each trace. A profile is for one linked file, its program: the main program of the traces, or
a shared library that they recorded as a module. Each trace is resolved with its own binary, so runs
of different builds merge by name.

There may be more traces than fit in memory, and more than one processor has time for: several
processes each sum up a part of the runs, and the sums are merged. Merging is associative and
commutative, so the same inputs give the same bytes, however they are divided.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from frontload.base import console, errors, workers
from frontload.base.arrays import np
from frontload.base.errors import EXIT_DATA, BadData, Diagnostics, Failure
from frontload.profile import inputs as reading
from frontload.profile.binaries import Binaries, Binary
from frontload.profile.block_counts import BlockCounts, Blocks, Shape, TouchedFunction, of_run
from frontload.profile.inputs import Input
from frontload.profile.kept_runs import KeptNumbers, KeptRun, identify
from frontload.profile.startup_profile import Name, Profile, Touched, from_run
from frontload.profile.touched import Sum, TouchedNumbers, together
from frontload.profile.trace import Module, Trace, digest

_MAX_LISTED = 12  # programs, or roles, in an error
_PART = 64  # files, or runs, per process at a time

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class _Part:
    """The sums of some runs."""

    sums: defaultdict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))  # by binary
    kept: defaultdict[str, KeptNumbers] = field(default_factory=lambda: defaultdict(KeptNumbers))
    # By binary, then by address and hash.
    blocks: defaultdict[str, Blocks[tuple[int, bytes]]] = field(
        default_factory=lambda: defaultdict(Blocks))
    named: Profile = field(default_factory=lambda: Profile(b"", 0))  # touches that have names
    profiles: Profile = field(default_factory=lambda: Profile(b"", 0))  # the input profiles
    left_out: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Failure] = field(default_factory=list)

    def merge(self, other: "_Part") -> None:
        for path, numbers in other.sums.items():
            self.sums[path].merge(numbers)
        for path, runs in other.kept.items():
            self.kept[path].merge(runs)
        for path, blocks in other.blocks.items():
            self.blocks[path].add(blocks)
        for path, left_out in other.left_out.items():
            self.left_out[path] |= left_out
        self.named.add(other.named)
        self.profiles.add(other.profiles)
        self.counts.update(other.counts)
        self.problems += other.problems


class Merger:
    """Takes inputs (`add`), then makes the profile of one program out of them (`result`).

    program: base name or path of the linked file; None if all inputs are of the same program
    binary: the linked file, in place of the recorded path; or one for each build
    link_map: the map of its link, which names the data that has no symbol
    allow_partial: an input that cannot be used is left out, with a warning
    roles: of the traces, only those of processes with one of these roles; none: all
    jobs: how many processes share the work
    generation: the label of the generation that the runs of traces are of; none: no label
    diagnostics: what is not in the profile, for the caller to show
    """

    def __init__(self, program: str | None = None, binary: str | Sequence[str] | None = None,
                 link_map: str | None = None, allow_partial: bool = False,
                 roles: Iterable[str] = (), jobs: int = 1, generation: str = ""):
        self._program = program
        self.diagnostics = Diagnostics()
        self._binaries = Binaries(binary, self.diagnostics)
        self._map = link_map
        self._allow_partial = allow_partial
        self._wanted_roles = set(roles)
        self._roles: Counter[str] = Counter()  # of all traces
        self._jobs = jobs
        self._generation = generation.encode()
        self._given = self._lost = 0
        self._inputs: list[Input] = []
        # Most traces have the same.
        self._modules: dict[Module, Module] = {}
        self._tables: dict[tuple[Module, ...], tuple[Module, ...]] = {}

    def add(self, path: str, weight: int = 1) -> None:
        """Takes one input; each of its runs counts as `weight` runs."""
        self.add_all([(path, weight)])

    def add_all(self, inputs: Sequence[tuple[str, int]]) -> None:
        """Takes inputs with weights."""
        for looked in self._shared(_look_at, inputs, "reading traces"):
            for found in looked:
                with self.one_input():
                    if isinstance(found, Failure):
                        raise found
                    self._add(found)

    @contextmanager
    def one_input(self) -> Iterator[None]:
        """While one input is read: its failure ends the work, or only this input."""
        self._given += 1
        with self._tolerance():
            yield

    def add_content(self, path: str, content: Trace | Profile, weight: int = 1) -> None:
        """Takes the content of an input; each of its runs counts as `weight` runs."""
        self._add(reading.of(path, content, weight, keep=True))

    def _add(self, given: Input) -> None:
        if given.modules is not None:
            self._roles[given.role] += 1
            if self._wanted_roles and given.role not in self._wanted_roles:
                return
            modules = tuple(self._modules.setdefault(each, each) for each in given.modules)
            given = replace(given, modules=self._tables.setdefault(modules, modules))
        self._inputs.append(given)

    def result(self) -> Profile:
        """The merged profile."""
        self._check_roles()
        program = self._choose_program()
        # For all traces if for any, or names would depend on which trace came first.
        if any(given.has_data for given in self._inputs):
            self._binaries.link_map = self._map
        self._open_binaries(program)
        whole = _Part()
        runs = reading.failed_as_one(reading.in_runs(self._inputs), program)
        for part in self._shared(lambda some: self._sum_up(some, program), runs, "merging"):
            whole.merge(part)
        for problem in whole.problems:
            with self._tolerance():
                raise problem
        left_out = {name for path, numbers in whole.left_out.items()
                    for name in self._binaries.at(path).resolver.names(numbers)}
        merged = self._with_names(whole, program)
        self._report(whole, program, len(left_out))
        if not merged.touches:
            raise Failure(f"{program}: no first touch in the inputs has a name",
                          code=EXIT_DATA, note="record again; for --with runtime, build with "
                          "-finstrument-functions and link libfrontload-rt")
        return merged

    def _shared(self, work: Callable[[Sequence[Item]], Result], items: Sequence[Item],
                what: str) -> Iterator[Result]:
        """Some work on parts of the items, in their order."""
        parts = [items[first:first + _PART] for first in range(0, len(items), _PART)]
        done = workers.in_order(work, parts, self._jobs)
        return console.progress(done, what, len(parts))

    def _open_binaries(self, program: str) -> None:
        """Opens the recorded binaries, for all processes to come."""
        for module, path in {given.module(program): given.path for given in self._inputs
                             if not given.is_profile}.items():
            if module is not None:
                with suppress(Failure):  # reported again with its traces
                    self._binaries.of(module, path)

    def _sum_up(self, runs: Sequence[list[Input]], program: str) -> _Part:
        part = _Part()
        for run in runs:
            self._add_run(part, run, program)
        for each in part.sums.values():
            each.settle()
        return part

    @contextmanager
    def _tolerance(self) -> Iterator[None]:
        """Turns the failure of one input into a warning, where that is allowed."""
        try:
            yield
        except Failure as problem:
            if not self._allow_partial:
                raise
            self._lost += 1
            self.diagnostics.warning(f"{problem}: this input is left out")

    @contextmanager
    def _gathering(self, part: _Part) -> Iterator[None]:
        """Leaves the failure of one input to the process that merges the parts, if allowed."""
        try:
            yield
        except Failure as problem:
            if not self._allow_partial:
                raise
            part.problems.append(problem)

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
            modules = Counter(name for given in self._inputs for name in given.names)
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
        """The name, for a name or path, wherever the file was recorded; of a link to a recorded
        file, that file's. If a trace has several modules of that name, the path, which alone can
        choose."""
        name = os.path.basename(wanted)
        if os.path.islink(wanted) and not any(name in given.names for given in self._inputs):
            name = os.path.basename(os.path.realpath(wanted))
        paths = {wanted, os.path.abspath(wanted), os.path.realpath(wanted)}
        for modules in dict.fromkeys(given.modules for given in self._inputs
                                     if given.modules is not None and wanted != name):
            alike = [module for module in modules if module.name == name]
            chosen = [module for module in alike if module.path in paths]
            if len(alike) > 1 and chosen:
                return chosen[0].path
        return name

    def _add_run(self, part: _Part, run: list[Input], program: str) -> None:
        """Adds a run's touches of the program; counts the run if it has none. A process that cannot
        be used does not exclude the others."""
        weight = max(each.weight for each in run)  # the weight of one process is meant for the run
        if run[0].is_profile:
            if run[0].program == os.path.basename(program):
                with self._gathering(part):
                    part.profiles.add(run[0].profile(), weight)
            else:
                part.counts["other"] += 1
            return
        processes, contents = list[tuple[Binary, TouchedNumbers]](), list[bytes]()
        blocks: defaultdict[str, list[TouchedFunction]] = defaultdict(list)
        data, knows_cold_parts = False, True
        for given in run:
            with self._gathering(part):
                content = given.trace()
                module = given.module(program)
                if module is None:
                    part.counts["other" if len(content.kinds) else "empty"] += 1
                    continue
                found = self._of_trace(part, content, module)
                data |= content.has_data
                if found is not None:
                    processes.append(found)
                    if len(contents) % _PART == _PART - 1:
                        processes = _together(processes)
                    contents.append(digest(content, module))
                    knows_cold_parts &= not found[0].collects
                    blocks[found[0].path] += found[0].blocks(content, module)
        if not any(len(touched.numbers) for _, touched in processes):
            return
        for path, functions in blocks.items():
            part.blocks[path].add(of_run(functions), weight)
        kept = KeptRun(identify(data, sorted(contents)), weight, data)
        if len({binary.path for binary, _ in processes}) == 1:
            (binary, touched), = _together(processes)
            path = binary.path
            part.sums[path].add(touched, weight)
            part.kept[path].add(kept, touched.numbers)
            made = Profile(b"", 1, data_runs=int(data))
        else:
            made = from_run(b"", _by_name(processes), data)
            made.kept.runs = [kept._replace(weight=1)]
        made.knows_cold_parts = knows_cold_parts
        part.named.add(made, weight)

    def _of_trace(self, part: _Part, trace: Trace,
                  module: Module) -> tuple[Binary, TouchedNumbers] | None:
        """A trace's touches of a module; None if there are none."""
        if module not in trace.modules:
            raise BadData(trace.path, "changed while it was read", note="merge it again")
        mine = trace.owners == trace.modules.index(module)
        part.counts.update(touches=int(np.count_nonzero(mine)), dropped=trace.dropped,
                           data=trace.has_data, ownerless=trace.ownerless)
        if not mine.any():
            part.counts["empty"] += 1
            return None
        binary = self._binaries.of(module, trace.path)
        touched, left_out = binary.resolve(trace, mine)
        part.left_out[binary.path].update(left_out.tolist())
        part.counts.update(nameless=touched.nameless, nameless_data=touched.nameless_data,
                           empty=not len(touched.numbers))
        return binary, touched

    def _with_names(self, whole: _Part, program: str) -> Profile:
        merged = Profile(os.fsencode(os.path.basename(program)), 0)
        merged.add(whole.named)
        for path, each in whole.sums.items():
            numbers = each.numbers()
            resolver = self._binaries.at(path).resolver
            names = resolver.names(numbers)
            merged.add(Profile(b"", 0, each.touches(names, resolver.untold(numbers)),
                               kept=whole.kept[path].named(numbers, names),
                               blocks=self._named_blocks(path, whole.blocks[path])))
        if self._generation:
            merged.label(self._generation)
        merged.add(whole.profiles)
        return merged

    def _named_blocks(self, path: str, blocks: Blocks[tuple[int, bytes]]) -> Blocks[Shape]:
        addresses = np.array([address for address, _ in blocks], np.uint64)
        names = self._binaries.at(path).resolver.functions(addresses)
        found: Blocks[Shape] = Blocks()
        for name, ((_, digits), counts) in zip(names, blocks.items(), strict=True):
            if name is not None:  # of two with one name, either one's
                found.setdefault(Shape(name.name, name.file, digits), BlockCounts()).add(counts)
        return found

    def _report(self, whole: _Part, program: str, left_out: int) -> None:
        counts = whole.counts
        warning, note = self.diagnostics.warning, self.diagnostics.note

        def touches(what: str) -> str:
            return f"{program}: " + errors.count(counts[what], "first touch", "first touches")

        if self._lost:
            warning(f"{self._lost} of {errors.count(self._given, 'input')} left out")
        if counts["dropped"]:
            warning(f"{touches('dropped')} lost, because the recorder had no room for more")
        if counts["ownerless"]:
            warning(f"{touches('ownerless')} lost: the record of their module is incomplete")
        if left_out:
            note(f"{program}: was built to collect a compiler's profile; left out what only that "
                 f"build has, and cold parts: {errors.count(left_out, 'name')}")
        if counts["nameless"]:
            note(f"{touches('nameless')} of {counts['touches']} without a symbol")
        if counts["nameless_data"] and self._map is None:
            note(f"{counts['nameless_data']} of these are of data: --map FILE gives "
                 "constants and strings a name; link with -Wl,-Map=FILE")
        if self._map is not None and not counts["data"]:
            warning(f"{self._map}: not used, because no trace of {program} has data")
        if counts["empty"]:
            note(f"{program}: {errors.count(counts['empty'], 'trace')} without a "
                 "named first touch left out")
        if counts["other"]:
            note(f"{program}: {errors.count(counts['other'], 'input')} of other "
                 "programs left out")


def _look_at(given: Sequence[tuple[str, int]]) -> list[Input | Failure]:
    found: list[Input | Failure] = []
    for path, weight in given:
        try:
            found.append(reading.look_at(path, weight))
        except Failure as problem:
            found.append(problem)
    return found


def _together(processes: list[tuple[Binary, TouchedNumbers]]
              ) -> list[tuple[Binary, TouchedNumbers]]:
    """The processes of a run in their order, neighbors of one binary joined: a run may have
    thousands, and most of them touch the same."""
    return [(group[0][0], together([each for _, each in group]))
            for _, found in groupby(processes, lambda process: process[0].path)
            if (group := list(found))]


def _by_name(processes: list[tuple[Binary, TouchedNumbers]]
             ) -> dict[Name, Touched]:
    """The touches of a run's processes, if they are of several binaries."""
    touched: dict[Name, Touched] = {}
    for binary, mine in processes:
        for name, amount in binary.resolver.names_of(mine).items():
            touched[name] = touched.get(name, Touched()).merged(amount)
    return touched


def _list(names: Counter[str]) -> str:
    shown = sorted(names.items(), key=lambda item: (-item[1], item[0]))[:_MAX_LISTED]
    rest = len(names) - len(shown)
    return (", ".join(f"{name} ({count})" for name, count in shown)
            + (f" and {rest} more" if rest else ""))
