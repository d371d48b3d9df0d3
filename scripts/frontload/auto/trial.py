"""The trial of a front: links a program again, records, profiles, links with the profile, checks,
compares and measures. Changes no file of the user, and writes only complete results.

before  the program as its build made it
plain   linked again by ld.frontload, without a profile and unstripped. This one is recorded: its
        link map names constants that have no symbol, and its link shows early whether the link
        can be repeated
after   linked with the profile; and so are the libraries of the same build
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from frontload.auto import advice, linker_options, objects, programs, relink
from frontload.auto.link_command import LinkCommand
from frontload.auto.outcome import DISK, Outcome, Plan, is_less
from frontload.auto.own_libraries import Library
from frontload.auto.relink import Options
from frontload.auto.workload import Workload, compare, named_as
from frontload.base import errors, files, packages, processes, tools
from frontload.base.errors import EXIT_VERDICT, Diagnostics, Failure
from frontload.base.missing import Missing
from frontload.base.ready import TIMED_OUT, Ready
from frontload.base.scratch import scratch_folder
from frontload.elf import dependencies
from frontload.elf import file as elf
from frontload.machine import probes
from frontload.measure import prediction
from frontload.measure.conditions import WARM
from frontload.measure.prediction import Document
from frontload.profile import coverage, front_report, inputs, merge, trace
from frontload.profile import format as profile
from frontload.profile import resolver as names
from frontload.profile.startup_profile import Profile
from frontload.recording import run as recording
from frontload.recording.watched import Watched

# A recording with data may last this many times longer, because the program is slower.
_DATA_SLOWDOWN = 40
_OF_LINKER = 10  # symbols such as _end, which some linkers export


def run(plan: Plan, link: LinkCommand, diagnostics: Diagnostics) -> Outcome:
    """Does all steps, and notes each. A step that fails is a Failure, unless it only adds
    figures."""
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
        diagnostics.step(f"linking {plan.program} again, by {link.source}")
        plain = stack.enter_context(relink.linked(link, beside, Options(link_map=link_map),
                                                  scratch, diagnostics))
        _refuse_another(plain, outcome)
        traces = scratch / "traces"
        outcome.has_data = _record(plan, plain, traces, outcome, diagnostics)
        startup = _profile(plain, [traces], link_map if outcome.has_data else None,
                           diagnostics)
        trained = scratch / "trained"
        trained.mkdir()
        if plan.training:
            with _lacking(outcome, "a profile that is also for what --train starts"):
                startup = _train(plan, startup, trained, outcome, diagnostics)
        startup.program = os.fsencode(os.path.basename(plan.program))
        outcome.names = len(startup.touches)
        written = scratch / "startup"
        written.write_bytes(profile.to_bytes(startup))
        startup = profile.read(written)  # in the order of entries, as in names.resolve
        diagnostics.step(f"linking it with a front of {errors.count(outcome.names, 'name')}")
        link_report = str(scratch / "link.json")
        options = Options(profile=str(written), prefetch=plan.prefetch, min_match=plan.min_match,
                          report=link_report)
        after = stack.enter_context(relink.linked(link, plan.output, options, scratch,
                                                  diagnostics))
        outcome.report = coverage.examine(elf.read(after), startup,
                                          names.resolve(str(written), [after]).places,
                                          front_report.left_out(link_report))
        mine = [path for path in trace.find(traces) if _is_of(path, plain)]
        diagnostics.step("predicting its starts")
        with _lacking(outcome, "what a cold start reads on common devices"):
            # Symbols map the touched places to another build.
            own = plan.program
            if outcome.before.stripped:
                own = stack.enter_context(relink.linked(link, beside, Options(own_linker=True),
                                                        scratch, diagnostics))
            outcome.prediction = _predicted(own, after, mine, plain)
            if outcome.trained:
                outcome.suite = _predicted(plan.program, after, trace.find(trained), plan.program)
            outcome.alone = [each.copy() for each in outcome.on_disk() or ()]
        for module in plan.modules:
            path = _write_library_profile(plan, module, [traces, trained], diagnostics)
            outcome.libraries[module] = path
        libraries = scratch / "lib"
        libraries.mkdir()
        for library in plan.own_libraries:
            with _lacking(outcome, f"a front of {library.name}"):
                _lay_out(plan, library, libraries, mine, [traces, trained], outcome, diagnostics)
        if plan.compare and plan.has_end:
            outcome.missing.append(Missing("whether both write the same", "the program does not "
                                           "end by itself", "compare by hand"))
        elif plan.compare:
            diagnostics.step("comparing what both write")
            below = _in_terminal() if plan.ready and plan.ready.tty else ()
            outcome.comparisons = [
                compare(each, each.searching(str(libraries)) if os.listdir(libraries) else each,
                        plan.program, after, plain, below) for each in plan.workloads]
        if outcome.before.stripped:
            _strip(after, outcome)
        shutil.copymode(plan.program, after)
        # All results are complete from here on, and get their names.
        files.write_if_changed(plan.profile, written.read_bytes())
        os.replace(after, plan.output)
        shutil.rmtree(plan.library_folder, ignore_errors=True)
        if os.listdir(libraries):
            shutil.copytree(libraries, plan.library_folder)
        if plan.keep:
            _keep(plan.keep, traces, link_map)
        outcome.after = programs.look(plan.output)
        if plan.runs:
            _measure(plan, outcome, diagnostics)
    return outcome


def _refuse_another(plain: str, outcome: Outcome) -> None:
    """Refuses a link that makes another kind of program than the build did: what make says
    afterwards lacks the variables that it was called with."""
    if not outcome.link.is_asked:
        return
    before, again = outcome.before, programs.look(plain)
    for one, other, what in (
            (before.kind, again.kind, "is a"),
            (before.position_independent, again.position_independent, "position-independent:"),
            (*_far_apart(*map(programs.exported, (before.path, plain))), "exports symbols:"),
            (set(dependencies.names(before.path)), set(dependencies.names(plain)), "needs")):
        if one != other:
            said, now = ((", ".join(sorted(each)) or "nothing") if isinstance(each, set) else each
                         for each in (one, other))
            raise Failure(f"{before.path}: {what} {said}, but linked again, by "
                          f"{outcome.link.source}, {now}", code=EXIT_VERDICT,
                          note=relink.WATCH)


def _far_apart(one: int, other: int) -> tuple[int, int]:
    """Numbers of symbols; equal if linkers may differ so much about their own."""
    return (one, one) if abs(one - other) <= _OF_LINKER else (one, other)


def _lay_out(plan: Plan, library: Library, folder: Path, mine: Sequence[Path],
             recorded: Sequence[Path], outcome: Outcome, diagnostics: Diagnostics) -> None:
    """Links a library with a front into `folder`, if that makes the program's start cheaper."""
    diagnostics.step(f"linking {library.name} with a front")
    library.profile = _write_library_profile(plan, library.name, recorded, diagnostics)
    outcome.libraries[library.name] = library.profile
    output = str(folder / library.name)
    relink.link_to(library.link, output, Options(profile=library.profile,
                                                 min_match=plan.min_match),
                   folder.parent, diagnostics)
    found = _predicted(library.path, output, mine, library.path)
    before, after = (each["devices"][DISK] for each in found["variants"])
    if is_less(before, after):
        library.output = os.path.join(plan.library_folder, library.name)
    else:
        os.unlink(output)
        output = library.path
        found = _predicted(library.path, output, mine, library.path)
    if outcome.prediction:
        prediction.add(outcome.prediction, found)
    if outcome.suite:
        prediction.add(outcome.suite, _predicted(library.path, output, trace.find(recorded[-1]),
                                                 library.path))


def _write_library_profile(plan: Plan, module: str, recorded: Sequence[Path],
                           diagnostics: Diagnostics) -> str:
    path = os.path.join(os.path.dirname(plan.profile), advice.profile_name(module))
    files.write_if_changed(path, profile.to_bytes(_library_profile(module, recorded, diagnostics)))
    return path


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


def _record(plan: Plan, plain: str, traces: Path, outcome: Outcome,
            diagnostics: Diagnostics) -> bool:
    """Records all workloads; returns whether data was recorded as well."""
    traces.mkdir()
    if os.geteuid() == 0:  # the command may change its user, who then writes traces of data himself
        traces.parent.chmod(0o711)
        traces.chmod(0o1733)
    pattern = recording.pattern_in(traces)
    recordings = plan.recordings * len(plan.workloads)
    advance = diagnostics.step(f"recording {errors.count(recordings, 'run')}", recordings)
    tracer = recording.recorder(pattern, modules=_modules(plan), until=plan.until)
    for workload in plan.workloads:
        for _ in range(plan.recordings):
            advance(f"recording {workload}")
            _one(workload, plain, tracer, traces, plan, diagnostics)
    if plan.data is False:
        return False
    if not (able := probes.valgrind()).works:
        if plan.data:
            raise Failure(able.detail, note=f"{able.remedy}; or leave out --data")
        outcome.missing.append(Missing("the data that startup touches", able.detail, able.remedy))
        return False
    diagnostics.step("recording data in valgrind, much slower (--no-data leaves it out)")
    try:
        for workload in plan.workloads:
            _one(workload, plain, recording.recorder(pattern, data=True, modules=_modules(plan),
                                                     until=plan.until),
                 traces, plan, diagnostics, slower=_DATA_SLOWDOWN)
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


def _train(plan: Plan, startup: Profile, traces: Path, outcome: Outcome,
           diagnostics: Diagnostics) -> Profile:
    """The profile of the command, and of the program's processes in the training commands, which
    run the program that the build made. They may fail: suites have known failures."""
    tracer = recording.recorder(recording.pattern_in(traces), modules=_modules(plan),
                                program=plan.program)
    for command in plan.training:
        earlier = set(trace.find(traces))
        diagnostics.note(f"recording all that {command} starts of {plan.program}")
        status = processes.run([*tracer, "sh", "-c", command],
                               environment=tools.environment_of_user(), shown=True).status
        runs = [each for path in trace.find(traces) if path not in earlier
                for each in [inputs.look_at(str(path))] if not each.forked]
        told = (f"{command}: exit status {status}, {errors.count(len(runs), 'run')} of the "
                f"program, {sum(each.failed for each in runs)} failed")
        (diagnostics.note if runs else diagnostics.warning)(told)
        outcome.trained += len(runs)
    if not outcome.trained:
        raise Failure(f"no process of {plan.program} was recorded there",
                      note="have --train start this file, which must have its symbols: a suite may "
                      "test an installed or stripped program")
    made = _profile(plan.program, [traces], None, diagnostics)
    # Half of all runs are of the command, for its place in the front. Runs that failed, one of more
    # than a hundred, are too few to decide the first tier (lldplugin/profile/tiers.cpp).
    made.add(startup, -(-max(made.runs, 100) // startup.runs))
    return made


def _modules(plan: Plan) -> list[str]:
    return list(dict.fromkeys([*plan.modules, *(each.name for each in plan.own_libraries)]))


def _have_data(traces: Path, plain: str) -> bool:
    return any(run.has_data and run.main is not None and run.main.path == plain
               for run in map(trace.read, trace.find(traces)))


def _one(workload: Workload, plain: str, tracer: list[str], traces: Path, plan: Plan,
         diagnostics: Diagnostics, *, slower: float = 1) -> None:
    before = set(trace.find(traces))
    if plan.ready or plan.until:
        with Watched((plan.ready or Ready()).slower(slower), plan.until is not None,
                     lambda: sorted(set(trace.find(traces)) - before),
                     name=workload.called) as watched:
            result = workload.run(plain, [*watched.prefix, *tracer], pass_fds=watched.descriptors,
                                  meanwhile=watched.until_ready)
        if not watched.is_ready and plan.has_end:
            diagnostics.quote(result.stderr)
            if result.status == TIMED_OUT:
                raise Failure(f"{workload}: was not ready in time", code=TIMED_OUT,
                              note="wait for something else, or longer: --timeout")
            raise Failure(f"{workload}: did not become ready (exit status {result.status})",
                          code=EXIT_VERDICT, note="if it was asked too early, wait for something "
                          "else: a server may listen before it answers")
    else:
        result = workload.run(plain, tracer)
        if result.status:
            diagnostics.quote(result.stderr)
            diagnostics.warning(f"{workload}: exit status {result.status}: is this the intended "
                                "startup?")
    # The comparison reports other failures of the command.
    if set(trace.find(traces)) == before:
        diagnostics.quote(result.stderr)
        raise Failure(f"{workload}: no trace was recorded (exit status {result.status})",
                      code=EXIT_VERDICT, note="frontload info tells what this machine allows")


def _profile(program: str, folders: Sequence[Path], link_map: str | None,
             diagnostics: Diagnostics) -> Profile:
    merger = merge.Merger(program=program, link_map=link_map)
    merger.add_all([(str(path), 1) for folder in folders for path in trace.find(folder)])
    made = merger.result()
    diagnostics.extend(merger.diagnostics)
    return made


def _library_profile(module: str, folders: Sequence[Path], diagnostics: Diagnostics) -> Profile:
    """The profile of a library, which may be recorded under a name with more of its version."""
    name = os.path.basename(module)
    recorded = next((each.path for folder in folders for path in trace.find(folder)
                     for each in trace.read(path).modules
                     if advice.profile_name(each.path) == advice.profile_name(name)), name)
    made = _profile(os.path.basename(recorded), folders, None, diagnostics)
    made.program = os.fsencode(name)
    return made


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


def _predicted(before: str, after: str, traces: Sequence[Path], recorded: str) -> Document:
    """Predicts cold starts of both on common devices, from the places that the runs touched."""
    return prediction.predict(
        [prediction.Build("before", before), prediction.Build("after", after)],
        prediction.telling(traces)[0], recorded)


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


def _measure(plan: Plan, outcome: Outcome, diagnostics: Diagnostics) -> None:
    from frontload.measure import plan as planned
    from frontload.measure import rounds
    from frontload.measure.on_device import on_device

    workload = plan.workloads[0]
    laid_out = [each for each in plan.own_libraries if each.output]
    with_fronts = workload.searching(plan.library_folder) if laid_out else workload
    libraries = {"before": [each.path for each in plan.own_libraries],
                 "after": [each.output or each.path for each in plan.own_libraries]}
    with ExitStack() as stack:
        binaries = [(label, stack.enter_context(named_as(workload.called, binary)))
                    for label, binary in (("before", plan.program), ("after", plan.output))]
        variants = [replace(each, environment=environment, files=tuple(map(
                        os.path.realpath, (*each.files, *libraries[each.name]))))
                    for each, environment in zip(
                        planned.make_variants(workload.words, binaries, []),
                        (workload.environment, with_fronts.environment), strict=True)]
        ready = plan.ready_unrecorded
        whole = planned.Plan(tuple(variants), runs=plan.runs, ignore_failure=not plan.has_end,
                             ready=ready)
        if not plan.device:  # a device that the user names is required
            stack.enter_context(_lacking(outcome, "what a start costs here"))
        packages.require("measure")
        advance = diagnostics.step(f"measuring {errors.count(2 * plan.runs, 'cold start')}",
                                   planned.count_runs(whole))
        launcher, described = stack.enter_context(
            on_device(plan.device, variants, plan.beside, ready))
        try:
            found = rounds.measure(whole, launcher, progress=advance, diagnostics=diagnostics)
        except Failure as problem:
            if plan.device:
                raise
            # Memory and processor time can be measured everywhere.
            outcome.missing.append(Missing("what a cold start reads here", problem.message,
                                           problem.note or "see frontload info"))
            found = rounds.measure(replace(whole, conditions=(WARM,)), launcher, progress=advance,
                                   diagnostics=diagnostics)
        outcome.measurement = replace(found, device=described)
        outcome.missing += found.missing
