"""The trial of a front: links a program again, records, profiles, links with the profile, checks,
compares and measures. Changes no file of the user, and writes only complete results.

before  the program as its build made it
plain   linked again by ld.frontload, without a profile and unstripped. This one is recorded: its
        link map names constants that have no symbol, and its link shows early whether the link
        can be repeated
after   linked with the profile
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from frontload.auto import comparison, libraries, linker_options, objects, programs, relink
from frontload.auto.comparison import Comparison
from frontload.auto.libraries import Library
from frontload.auto.link_command import LinkCommand
from frontload.auto.linker_options import Hindrance
from frontload.auto.objects import Sections
from frontload.auto.relink import Options
from frontload.auto.workload import Workload
from frontload.base import errors, files, processes, tools
from frontload.base.errors import EXIT_VERDICT, Failure
from frontload.base.missing import Missing
from frontload.base.ready import TIMED_OUT, Ready
from frontload.base.scratch import scratch_folder
from frontload.device import kinds
from frontload.device.kinds import Device
from frontload.elf import file as elf
from frontload.measure import prediction
from frontload.profile import coverage, front_report, merge, trace
from frontload.profile import format as profile
from frontload.profile import resolver as names
from frontload.recording import run as recording
from frontload.recording.watched import Watched

if TYPE_CHECKING:
    from frontload.measure.measurement import Measurement

MEASURED_RUNS = 10
_DISK = "hdd"  # fronts are judged on this device
# A recording with data may last this many times longer, because the program is slower.
_DATA_SLOWDOWN = 40


@dataclass(frozen=True)
class Plan:
    program: str
    workloads: tuple[Workload, ...]
    profile: str  # the path to write it to
    output: str  # the path of the program with a front
    runs: int = 3
    data: bool | None = None  # None: if valgrind is available
    modules: tuple[str, ...] = ()
    until: str | None = None  # a function
    ready: Ready | None = None  # otherwise
    prefetch: bool = False
    min_match: float = 80.0
    min_coverage: float = 95.0
    measured_runs: int = MEASURED_RUNS  # 0: do not measure
    device: Device | None = None  # a separate device to measure on
    beside: tuple[str, ...] = ()  # files that the program needs beside it there
    compare: bool = True
    keep: str | None = None  # a folder for traces and map
    built_in: str | None = None  # the folder of the build command, if one was given

    @property
    def ready_unrecorded(self) -> Ready | None:
        """The end of startup in unrecorded runs."""
        return replace(self.ready or Ready(), function=self.until) if self.until else self.ready

    @property
    def has_end(self) -> bool:
        """Whether startup ends before the program does."""
        return self.ready_unrecorded is not None and self.ready_unrecorded.can_be_seen

    def record_options(self) -> tuple[str, ...]:
        """The options of `frontload record` that record the same."""
        ready = self.ready or Ready()
        # With --until alone, the program would keep running.
        ends = [f"--until={self.until}", f"--timeout={ready.timeout:g}"] if self.until else []
        return tuple(dict.fromkeys([*ends, *ready.options()]))


@dataclass
class Outcome:
    link: LinkCommand
    sections: Sections
    hindrances: list[Hindrance]
    before: programs.Program
    after: programs.Program = field(init=False)
    names: int = 0
    has_data: bool = False
    report: coverage.Report = field(init=False)
    comparisons: list[Comparison] = field(default_factory=list)
    measurement: "Measurement | None" = None
    prediction: dict | None = None  # returned by prediction.predict
    libraries: dict[str, str] = field(default_factory=dict)  # profiles of modules
    linked: list[Library] = field(default_factory=list)  # libraries that now have a front as well
    missing: list[Missing] = field(default_factory=list)

    def placed(self, plan: Plan) -> bool:
        return all(is_placed(report, plan) for report in (
            self.report, *(library.report for library in self.linked)))

    def differs(self) -> bool:
        return any(each.same is False for each in self.comparisons)

    def measured_gain(self) -> bool | None:
        """Whether a cold start waits less for its reads here, by the counts; None if unknown."""
        if self.measurement is None:
            return None
        from frontload.measure.results import figures

        before, after = (figures(self.measurement.of(name, _condition(self.measurement)))
                         for name in ("before", "after"))
        return _is_less({name: each["median"] for name, each in before.items()},
                        {name: each["median"] for name, each in after.items()})

    def predicted_gain(self) -> bool | None:
        if self.prediction is None:
            return None
        found = [self.prediction, *(library.prediction for library in self.linked
                                    if library.prediction)]
        before, after = ([each["variants"][number]["devices"][_DISK] for each in found]
                         for number in (0, 1))
        return _is_less(_sum(before), _sum(after))

    def gain(self, plan: Plan) -> bool | None:
        """Whether a cold start has its pages faster, here or by prediction: on a device that
        reads megabytes ahead, no layout makes a difference. On the user's device, only there."""
        known = [each for each in (self.measured_gain(), self.predicted_gain()) if each is not None]
        if plan.device and self.measurement:
            known = known[:1]
        return any(known) if known else None

    def good(self, plan: Plan) -> bool:
        return self.placed(plan) and not self.differs() and self.gain(plan) is not False


def is_placed(report: coverage.Report, plan: Plan) -> bool:
    return coverage.suffices(report, plan.min_coverage, plan.min_match)


def _sum(figures: Sequence[dict]) -> dict:
    """The sum over the files of a start."""
    return {name: sum(each[name] for each in figures)
            for name in ("seconds", "major_faults", "read_bytes")}


def _is_less(before: dict, after: dict) -> bool:
    """Whether a start's reads take less time on a disk (fewer faults with more bytes may take
    more), or both counts are lower. Without a byte count, the faults decide."""
    if "seconds" not in before:
        before, after = (each | {"seconds": _seconds(each)} for each in (before, after))
    return after["seconds"] < before["seconds"] or (
        after["major_faults"] < before["major_faults"]
        and after.get("read_bytes", 0) <= before.get("read_bytes", 0))


def _seconds(counts: dict) -> float:
    disk = kinds.find(_DISK)
    return (counts["major_faults"] / disk.iops
            + counts.get("read_bytes", 0) / disk.bytes_per_second)


def _condition(measurement: "Measurement") -> str:
    return measurement.plan.conditions[0]


def run(plan: Plan, link: LinkCommand, linked: Sequence[Library] = ()) -> Outcome:
    """Does all steps. A step that fails is a Failure, unless it only adds figures. Of the plan's
    modules, `linked` get a front as well."""
    outcome = Outcome(link, objects.look(objects.inputs(link.expanded(), link.directory)),
                      relink.hindrances(link), programs.look(plan.program))
    _refuse(outcome)
    # A build beside the program finds its libraries as the program does.
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
        outcome.linked = list(linked)
        folder = libraries.link_plain(linked, scratch) if linked else None
        traces = scratch / "traces"
        outcome.has_data = _record(plan, plain, traces, outcome, libraries.loading_from(folder))
        written = scratch / "startup"
        written.write_bytes(_profile(plan.program, plain, traces,
                                     link_map if outcome.has_data else None))
        startup = profile.read(written)  # in the order of entries, as in names.resolve
        outcome.names = len(startup.touches)
        profiles = _library_profiles(plan, traces, outcome)
        errors.note(f"linking it with a front of {errors.count(outcome.names, 'name')}")
        link_report = str(scratch / "link.json")
        options = Options(profile=str(written), prefetch=plan.prefetch, min_match=plan.min_match,
                          report=link_report)
        after = stack.enter_context(relink.linked(link, plan.output, options, scratch))
        outcome.report = coverage.examine(elf.read(after), startup,
                                          names.resolve(str(written), [after]).places,
                                          front_report.left_out(link_report))
        fronts = [(library, stack.enter_context(libraries.linked_with_front(
            library, profiles[library.profile], plan.min_match, scratch))) for library in linked]
        folder = libraries.place(fronts, scratch / "fronts") if fronts else None
        if plan.compare and plan.has_end:
            outcome.missing.append(Missing("whether both write the same", "the program does not "
                                           "end by itself", "compare by hand"))
        elif plan.compare:
            outcome.comparisons = comparison.compare(
                plan.workloads, plan.program, after, plain,
                below=_in_terminal() if plan.ready and plan.ready.tty else (),
                after_by=libraries.loading_from(folder))
        _predict(plan, outcome, plain, after, traces)
        for library, path in fronts:
            with _lacking(outcome, f"what a cold start reads of {library.path} elsewhere"):
                library.predict(path, trace.find(traces))
        for before, path in ((plan.program, after), *((each.path, path) for each, path in fronts)):
            if programs.look(before).stripped:
                _strip(path, outcome)
            shutil.copymode(before, path)
        # All results are complete from here on, and get their names.
        files.write_if_changed(plan.profile, written.read_bytes())
        for path, data in profiles.items():
            files.write_if_changed(path, data)
        os.replace(after, plan.output)
        for library, path in fronts:
            os.replace(path, library.output)
        if plan.keep:
            _keep(plan.keep, traces, link_map)
        outcome.after = programs.look(plan.output)
        if plan.measured_runs:
            _measure(plan, outcome, libraries.place(
                [(library, library.output) for library in linked], scratch / "measured")
                if linked else None)
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


def _in_terminal() -> list[str]:
    """The command prefix that gives a command its own terminal."""
    return [str(tools.tool("frontload-exec")), *Ready(tty=True).options(), "--"]


def _may_write_beside(path: str) -> bool:
    return os.access(os.path.dirname(path), os.W_OK | os.X_OK)


def _record(plan: Plan, plain: str, traces: Path, outcome: Outcome, below: list[str]) -> bool:
    """Records all workloads, run by `below`; returns whether data was recorded as well."""
    traces.mkdir()
    if os.geteuid() == 0:  # the command may change its user, who then writes traces of data himself
        traces.parent.chmod(0o711)
        traces.chmod(0o1733)
    pattern = recording.pattern_in(traces)
    errors.note(f"recording {errors.count(plan.runs * len(plan.workloads), 'run')}")
    known = {library.module: library.soname for library in outcome.linked}
    modules = tuple(known.get(module, module) for module in plan.modules)
    tracer = [*below, *recording.recorder(pattern, modules=modules, until=plan.until)]
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
                 [*below, *recording.recorder(pattern, data=True, modules=modules,
                                              until=plan.until)],
                 traces, plan, slower=_DATA_SLOWDOWN)
    except Failure as problem:
        if plan.data:
            raise
        outcome.missing.append(Missing("the data that startup touches", problem.message,
                                       problem.note or "see frontload record --data"))
        return _have_data(traces, plain)
    if not _have_data(traces, plain):
        outcome.missing.append(Missing(
            "the data that startup touches", "the program wrote no trace of it in valgrind",
            "see what `frontload record --data` says; or run auto as the user that the program "
            "runs as"))
        return False
    return True


def _have_data(traces: Path, plain: str) -> bool:
    return any(run.has_data and run.main is not None and run.main.path == plain
               for run in map(trace.read, trace.find(traces)))


def _one(workload: Workload, plain: str, tracer: list[str], traces: Path, plan: Plan, *,
         slower: float = 1) -> None:
    before = set(trace.find(traces))
    if plan.ready or plan.until:
        with Watched((plan.ready or Ready()).slower(slower), plan.until is not None,
                     lambda: sorted(set(trace.find(traces)) - before),
                     name=workload.called) as watched:
            result = workload.run(plain, [*watched.prefix, *tracer], pass_fds=watched.descriptors,
                                  meanwhile=watched.until_ready)
        if not watched.is_ready and plan.has_end:
            errors.quote(result.stderr)
            if result.status == TIMED_OUT:
                raise Failure(f"{workload}: was not ready in time", code=TIMED_OUT,
                              note="wait for something else, or longer: --timeout")
            raise Failure(f"{workload}: did not become ready (exit status {result.status})",
                          code=EXIT_VERDICT, note="if it was asked too early, wait for something "
                          "else: a server may listen before it answers")
    else:
        result = workload.run(plain, tracer)
        if result.status:
            errors.quote(result.stderr)
            errors.warning(f"{workload}: exit status {result.status}: is that the start that is "
                           "meant?")
    # The comparison reports other failures of the command.
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
    """The profile of each requested library, by its path: beside the program's."""
    found = {}
    known = {library.module: library for library in outcome.linked}
    for module in plan.modules:
        library = known.get(module)
        merger = merge.Merger(program=library.plain,
                              link_map=library.link_map if outcome.has_data else None) \
            if library else merge.Merger(program=os.path.basename(module))
        for recorded in trace.find(traces):
            merger.add(str(recorded))
        made = merger.result()
        name = os.path.basename(module)
        if library:
            made.program = os.fsencode(library.soname)
            name = library.soname
        stem = name.partition(".so")[0] + ".so" if ".so" in name else name
        path = os.path.join(os.path.dirname(plan.profile), f"{stem}.startup")
        found[path] = profile.to_bytes(made)
        outcome.libraries[module] = path
        if library:
            library.profile = path
    return found


def _strip(binary: str, outcome: Outcome) -> None:
    """Strips as the build does, in its link or after it, so that the compared files are alike."""
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
    """Predicts cold starts of both on common devices, from the places that the runs touched."""
    mine = [path for path in trace.find(traces) if _is_of(path, plain)]
    # Symbols map the touched places to another build.
    before = plain if outcome.before.stripped else plan.program
    with _lacking(outcome, "what a cold start reads on common devices"):
        outcome.prediction = prediction.predict(
            [prediction.Build("before", before), prediction.Build("after", after)],
            prediction.telling(mine)[0], plain)


def _is_of(path: Path, program: str) -> bool:
    main = trace.read(path).main
    return main is not None and main.path == program


def _keep(folder: str, traces: Path, link_map: str) -> None:
    os.makedirs(folder, exist_ok=True)
    for path in [*trace.find(traces), Path(link_map)]:
        shutil.copy2(path, folder)


@contextmanager
def _lacking(outcome: Outcome, what: str) -> Iterator[None]:
    """Reports a figure that is not available here, and goes on."""
    try:
        yield
    except Failure as problem:
        outcome.missing.append(Missing(what, problem.message, problem.note or "see frontload info"))


def _measure(plan: Plan, outcome: Outcome, fronts: Path | None) -> None:
    """`fronts`: the folder with libraries that belong to the program with a front."""
    from frontload.measure import plan as planned
    from frontload.measure import rounds
    from frontload.measure.launcher import Launcher
    from frontload.measure.on_device import on_device

    variants = planned.make_variants(plan.workloads[0].words,
                                     [("before", plan.program), ("after", plan.output)], [])
    if fronts:
        if plan.until:  # the breakpoint would be set in env
            outcome.missing.append(Missing("what a cold start reads here", "--until cannot be "
                                           "waited for in a program that loads other libraries",
                                           "say otherwise when it is ready: --until-..."))
            return
        before, after = variants
        variants = (
            replace(before, command=("env", *before.command),
                    files=(*before.files, *(each.path for each in outcome.linked))),
            replace(after, command=(*libraries.loading_from(fronts), *after.command),
                    files=(*after.files, *(each.output for each in outcome.linked))))
    with ExitStack() as stack:
        ready = plan.ready_unrecorded
        launcher, described = Launcher(end_with_us=True, ready=ready), None
        if plan.device:
            launcher, described = stack.enter_context(
                on_device(plan.device, variants, plan.beside, ready))
        else:  # a device that the user names is required
            stack.enter_context(_lacking(outcome, "what a cold start reads here"))
        errors.note(f"measuring {errors.count(2 * plan.measured_runs, 'cold start')}")
        found = rounds.measure(
            planned.Plan(variants, runs=plan.measured_runs, ignore_failure=not plan.has_end,
                         ready=ready), launcher)
        outcome.measurement = replace(found, device=described)
        outcome.missing += found.missing
