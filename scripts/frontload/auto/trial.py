"""The trial of a front: links a program again, records, profiles, links with the profile, checks,
compares and measures. It changes no file of the user's, and writes its results when they are whole.

before  the program as its build made it
plain   linked again by ld.frontload without a profile and not stripped: this is recorded, because
        the map of its link names what no symbol names, and its link tells at once whether the link
        can be done again
after   linked with the profile
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from frontload.auto import comparison, linker_options, objects, programs, relink
from frontload.auto.comparison import Comparison
from frontload.auto.link_command import LinkCommand
from frontload.auto.linker_options import Hindrance
from frontload.auto.objects import Sections
from frontload.auto.relink import Options
from frontload.auto.workload import Workload
from frontload.base import errors, files, processes
from frontload.base.errors import EXIT_VERDICT, Failure
from frontload.base.missing import Missing
from frontload.base.ready import Ready
from frontload.base.scratch import scratch_folder
from frontload.device.kinds import Device
from frontload.elf import file as elf
from frontload.measure import prediction
from frontload.profile import coverage, merge, trace
from frontload.profile import format as profile
from frontload.profile import resolver as names
from frontload.recording import command as recording
from frontload.recording.watched import Watched

MEASURED_RUNS = 10
# How much longer a recording with data may last, and does where a time ends it: as much slower is
# the program.
_DATA_SLOWDOWN = 40


@dataclass(frozen=True)
class Plan:
    program: str
    workloads: tuple[Workload, ...]
    profile: str  # where it goes
    output: str  # where the program with a front goes
    runs: int = 3
    data: bool | None = None  # None: if valgrind is there
    modules: tuple[str, ...] = ()
    until: str | None = None  # a function
    ready: Ready | None = None  # or else
    prefetch: bool = False
    min_match: float = 80.0
    min_coverage: float = 95.0
    measured_runs: int = MEASURED_RUNS  # 0: do not measure
    device: Device | None = None  # of its own, to measure on
    beside: tuple[str, ...] = ()  # what the program needs beside it there
    compare: bool = True
    keep: str | None = None  # a folder for traces and map

    def ends_by_itself(self, outcome: "Outcome", what: str) -> bool:
        """Whether the program may be run to its end; what is not known otherwise is told."""
        if self.until is None and self.ready is None:
            return True
        outcome.missing.append(Missing(
            what, "the program does not end by itself",
            "without --until-..., if it does; or compare by hand"
            if self.ready and self.ready.can_be_seen else
            "say by --until-listening, --until-output or the like when it is ready"))
        return False


@dataclass
class Outcome:
    link: LinkCommand
    sections: Sections
    hindrances: list[Hindrance]
    before: programs.Program
    after: programs.Program | None = None
    names: int = 0
    report: coverage.Report | None = None
    comparisons: list[Comparison] = field(default_factory=list)
    measurement: object | None = None  # measure.Measurement
    prediction: dict | None = None  # what prediction.predict says
    libraries: dict[str, str] = field(default_factory=dict)  # the profiles of modules
    missing: list[Missing] = field(default_factory=list)

    def placed(self, plan: Plan) -> bool:
        report = self.report
        return (report.coverage >= plan.min_coverage
                and 100 * report.present >= plan.min_match * report.names)

    def differs(self) -> bool:
        return any(each.same is False for each in self.comparisons)

    def measured_gain(self) -> bool | None:
        """Whether a cold start reads less here, or waits less often; None if nobody knows."""
        if self.measurement is None:
            return None
        from frontload.measure.results import figures

        before, after = (figures(self.measurement.of(name, _condition(self.measurement)))
                         for name in ("before", "after"))
        return _less({name: each["median"] for name, each in before.items()},
                     {name: each["median"] for name, each in after.items()})

    def predicted_gain(self) -> bool | None:
        if self.prediction is None:
            return None
        before, after = (each["devices"] for each in self.prediction["variants"])
        return any(_less(before[device], after[device]) for device in before)

    def gain(self) -> bool | None:
        """Whether a cold start reads less, or waits less often, here or on a common device: on one
        that reads megabytes ahead, no layout makes a difference."""
        known = [each for each in (self.measured_gain(), self.predicted_gain()) if each is not None]
        return any(known) if known else None

    def good(self, plan: Plan) -> bool:
        return self.placed(plan) and not self.differs() and self.gain() is not False


def _less(before: dict, after: dict) -> bool:
    return any(after[name] < before[name] for name in ("major_faults", "read_bytes")
               if name in before and name in after)


def _condition(measurement) -> str:
    return measurement.plan.conditions[0]


def run(plan: Plan, link: LinkCommand) -> Outcome:
    """Does all of it; a step that cannot be done is a Failure, but for what only tells more."""
    outcome = Outcome(link, objects.look(objects.inputs(link.expanded(), link.directory)),
                      relink.hindrances(link), programs.look(plan.program))
    _refuse(outcome)
    # What lies beside the program finds its libraries as the program does.
    beside = plan.program if _may_write_beside(plan.program) else plan.output
    for path, option in ((plan.output, "-o"), (plan.profile, "--profile")):
        if not _may_write_beside(path):
            raise Failure(f"{os.path.dirname(path)}: is not a folder that you can write to",
                          note=f"choose another with {option}")
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder("frontload-auto."))
        link_map = str(scratch / "plain.map")
        errors.note(f"linking {plan.program} again, as {link.source} says")
        plain = stack.enter_context(relink.linked(link, beside, Options(link_map=link_map),
                                                  scratch))
        traces = scratch / "traces"
        has_data = _record(plan, plain, traces, outcome)
        written = scratch / "startup"
        written.write_bytes(_profile(plan.program, plain, traces, link_map if has_data else None))
        startup = profile.read(written)  # in the order of its entries, which names.resolve counts
        outcome.names = len(startup.touches)
        libraries = _library_profiles(plan, traces, outcome)
        errors.note(f"linking it with a front of {errors.count(outcome.names, 'name')}")
        options = Options(profile=str(written), prefetch=plan.prefetch, min_match=plan.min_match)
        after = stack.enter_context(relink.linked(link, plan.output, options, scratch))
        outcome.report = coverage.examine(elf.read(after), startup,
                                       names.resolve(str(written), [after]).places)
        if plan.compare and plan.ends_by_itself(outcome, "whether both write the same"):
            outcome.comparisons = comparison.compare(plan.workloads, plan.program, after, plain)
        _predict(plan, outcome, plain, after, traces)
        if outcome.before.stripped:
            _strip(after, outcome)
        shutil.copymode(plan.program, after)
        # From here on all is whole: what is left behind gets its names.
        files.write_if_changed(plan.profile, written.read_bytes())
        for path, data in libraries.items():
            files.write_if_changed(path, data)
        os.replace(after, plan.output)
        if plan.keep:
            _keep(plan, traces, link_map)
        outcome.after = programs.look(plan.output)
        if plan.measured_runs and (
                (plan.ready and plan.ready.can_be_seen)
                or plan.ends_by_itself(outcome, "what a cold start reads here")):
            _measure(plan, outcome)
    return outcome


def _refuse(outcome: Outcome) -> None:
    for each in outcome.hindrances:
        if each.kind == linker_options.REFUSED:
            raise Failure(f"{outcome.link.output}: linked with {each.option}: {each.why}",
                          code=EXIT_VERDICT, note=each.remedy)
    if outcome.before.kind == "shared library":
        raise Failure(f"{outcome.before.path}: is a shared library",
                      note="link it with ld.frontload in its own build; its profile comes from "
                      "`frontload record --module`")


def _may_write_beside(path: str) -> bool:
    return os.access(os.path.dirname(path), os.W_OK | os.X_OK)


def _record(plan: Plan, plain: str, traces: Path, outcome: Outcome) -> bool:
    """Records all workloads; returns whether data was recorded too."""
    traces.mkdir()
    pattern = recording.pattern_in(traces)
    errors.note(f"recording {errors.count(plan.runs * len(plan.workloads), 'run')}")
    tracer = recording.recorder(pattern, modules=plan.modules, until=plan.until)
    for workload in plan.workloads:
        for _ in range(plan.runs):
            _one(workload, plain, tracer, traces, plan)
    if plan.data is False:
        return False
    if shutil.which("valgrind") is None:
        if plan.data:
            raise Failure("valgrind: not found", note="apt-get install valgrind; or leave out "
                          "--data")
        outcome.missing.append(Missing("the data that startup touches", "valgrind is not found",
                                       "apt-get install valgrind"))
        return False
    errors.note("recording data in valgrind, some forty times slower (--no-data leaves it out)")
    try:
        for workload in plan.workloads:
            _one(workload, plain,
                 recording.recorder(pattern, data=True, modules=plan.modules, until=plan.until),
                 traces, plan, slower=_DATA_SLOWDOWN)
    except Failure as problem:
        if plan.data:
            raise
        outcome.missing.append(Missing("the data that startup touches", problem.message,
                                       problem.note or "see frontload record --data"))
        return any(trace.read(path).has_data for path in trace.find(traces))
    return True


def _one(workload: Workload, plain: str, tracer: list[str], traces: Path, plan: Plan, *,
         slower: float = 1) -> None:
    before = set(trace.find(traces))
    if plan.ready or plan.until:
        with Watched((plan.ready or Ready()).slower(slower), plan.until is not None,
                     lambda: sorted(set(trace.find(traces)) - before)) as watched:
            result = workload.run(plain, [*watched.prefix, *tracer], pass_fds=watched.descriptors,
                                  meanwhile=watched.until_ready)
        if not watched.is_ready:
            errors.quote(result.stderr)
            raise Failure(f"{workload}: did not become ready (exit status {result.status})",
                          code=EXIT_VERDICT, note="wait for something else, or longer: --timeout")
    else:
        result = workload.run(plain, tracer)
    # What the command itself makes of its run is told by the comparison.
    if set(trace.find(traces)) == before:
        errors.quote(result.stderr)
        raise Failure(f"{workload}: no trace was recorded (exit status {result.status})",
                      code=EXIT_VERDICT, note="frontload info tells what this machine allows")


def _profile(program: str, plain: str, traces: Path, link_map: str | None) -> bytes:
    merger = merge.Merger(program=plain, link_map=link_map)
    for path in trace.find(traces):
        merger.add(str(path))
    made = merger.result()
    made.program = os.fsencode(os.path.basename(program))
    return profile.to_bytes(made)


def _library_profiles(plan: Plan, traces: Path, outcome: Outcome) -> dict[str, bytes]:
    """The profile of each library that was asked for, by where it goes: beside the program's."""
    found = {}
    for module in plan.modules:
        merger = merge.Merger(program=os.path.basename(module))
        for path in trace.find(traces):
            merger.add(str(path))
        name = os.path.basename(module)
        stem = name.partition(".so")[0] + ".so" if ".so" in name else name
        path = os.path.join(os.path.dirname(plan.profile), f"{stem}.startup")
        found[path] = profile.to_bytes(merger.result())
        outcome.libraries[module] = path
    return found


def _strip(binary: str, outcome: Outcome) -> None:
    """As the build does, in its link or after it: what is compared then is of one kind."""
    strip = shutil.which("strip") or shutil.which("llvm-strip")
    if strip is None:
        outcome.missing.append(Missing("a stripped program with a front", "strip is not found",
                                       "apt-get install binutils"))
        return
    result = processes.run([strip, binary])
    if result.status:
        raise Failure(f"{strip}: exited with status {result.status}: {result.stderr.strip()}",
                      note="please report this: strip should treat programs with a front like any "
                           "other")


def _predict(plan: Plan, outcome: Outcome, plain: str, after: str, traces: Path) -> None:
    """What cold starts of both read on common devices, by what the runs have touched."""
    mine = [path for path in trace.find(traces) if _is_of(path, plain)]
    # Names tell what the touched places are in another build.
    before = plain if outcome.before.stripped else plan.program
    with _lacking(outcome, "what a cold start reads on common devices"):
        outcome.prediction = prediction.predict(
            [prediction.Build("before", before), prediction.Build("after", after)],
            prediction.telling(mine)[0], plain)


def _is_of(path: Path, program: str) -> bool:
    main = trace.read(path).main
    return main is not None and main.path == program


def _keep(plan: Plan, traces: Path, link_map: str) -> None:
    os.makedirs(plan.keep, exist_ok=True)
    for path in [*trace.find(traces), Path(link_map)]:
        shutil.copy2(path, plan.keep)


@contextmanager
def _lacking(outcome: Outcome, what: str) -> Iterator[None]:
    """What cannot be had here is told, and no reason to give up the rest."""
    try:
        yield
    except Failure as problem:
        outcome.missing.append(Missing(what, problem.message, problem.note or "see frontload info"))


def _measure(plan: Plan, outcome: Outcome) -> None:
    from frontload.measure import plan as planned
    from frontload.measure import rounds
    from frontload.measure.launcher import Launcher
    from frontload.measure.on_device import on_device

    variants = planned.make_variants(plan.workloads[0].words,
                                     [("before", plan.program), ("after", plan.output)], [])
    with ExitStack() as stack:
        launcher, described = Launcher(end_with_us=True, ready=plan.ready), None
        if plan.device:
            launcher, described = stack.enter_context(
                on_device(plan.device, variants, plan.beside, plan.ready))
        else:  # who asks for a device shall have it
            stack.enter_context(_lacking(outcome, "what a cold start reads here"))
        errors.note(f"measuring {errors.count(2 * plan.measured_runs, 'cold start')}")
        found = rounds.measure(
            planned.Plan(variants, runs=plan.measured_runs, ignore_failure=plan.ready is None,
                         ready=plan.ready), launcher)
        outcome.measurement = replace(found, device=described)
        outcome.missing += found.missing
