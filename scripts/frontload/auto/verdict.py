"""What a trial came to: the table, the sentences below it, and the same as JSON."""

import os
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from frontload import __version__
from frontload.auto import advice, build_folder
from frontload.auto.advice import Advice, Training
from frontload.auto.build_folder import Folder
from frontload.auto.linker_options import REPLACED
from frontload.auto.outcome import DISK, Outcome, Plan, is_less
from frontload.auto.own_libraries import SEARCHED
from frontload.base import console, files
from frontload.base.console import say
from frontload.base.errors import Command, count, percent
from frontload.measure.conditions import SELECTIVELY_COLD, WARM

if TYPE_CHECKING:
    from frontload.measure.measurement import Measurement
    from frontload.measure.prediction import Figures as Predicted
    from frontload.measure.results import Figure

# Smaller changes of memory are not mentioned: two measurements of one program differ by 0.1 MB.
_TELLING, _TELLING_BYTES = 0.02, 250_000
SCHEMA = "frontload-auto/1"


def sentence(plan: Plan, outcome: Outcome) -> str:
    """The verdict, from counts of this program as its build linked it and with a front."""
    good = outcome.good(plan)
    disk, memory = outcome.on_disk(), outcome.memory()
    if not outcome.placed(plan) or outcome.differs():
        return f"not usable: {reasons(plan, outcome)[0]}"
    if outcome.gain(plan) is None:
        return "unknown: nothing could be measured or predicted here"
    found = []
    if good and disk:
        warm = outcome.measured(WARM)
        # Both get the same warm time: only counts differ, which no noise changes.
        rest = min(each["wall_ns"]["median"] for each in warm) / 1e9 if warm else 0.0
        before, after = (each["seconds"] + rest for each in disk)
        found.append(f"{'cold start' if warm else 'the reads of a cold start'} "
                     f"{_change(before, after)} s on a disk")
    elif disk:
        slowed = outcome.slows_suite() and outcome.on_disk(suite=True)
        found += [f"{outcome.before.size / 1e6:.3g} MB program",
                  f"in training, {_requests(*slowed)}" if slowed else _requests(*disk)]
    elif both := outcome.measured(SELECTIVELY_COLD):
        before, after = (each["major_faults"]["median"] for each in both)
        found.append(f"{before:.0f} → {after:.0f} major faults")
    if memory and good and abs(memory[1] - memory[0]) >= max(_TELLING * memory[0], _TELLING_BYTES):
        found.append(f"peak memory {_change(*(each / 1e6 for each in memory))} MB")
    return f"{'worth it' if good else 'not worth it'}: {', '.join(found)}"


def _requests(before: "Predicted", after: "Predicted") -> str:
    one, other = (round(each["requests"]) for each in (before, after))
    return (f"{one} requests either way" if one == other else
            f"{one} requests without a front, {other} with one")


def _change(before: float, after: float) -> str:
    """Two numbers, with two digits each."""
    return " → ".join(f"{each:.0f}" if each >= 10 else f"{each:.2g}" for each in (before, after))


def reasons(plan: Plan, outcome: Outcome) -> list[str]:
    """The reasons, if the answer is no."""
    found = []
    report = outcome.report
    if not outcome.placed(plan):
        found.append(f"{plan.output}: {percent(report.placed + report.left_out, report.names)} of "
                     f"the names are where they should be, less than {plan.min_coverage:g}%")
    found += [f"{each.workload}: {each.detail}" for each in outcome.comparisons
              if each.same is False]
    if outcome.gain(plan) is False:
        found.append(f"{plan.output}: a cold start of it waits " + (
            f"longer for reads than one of {plan.program}, in {' and '.join(plan.training)}"
            if outcome.slows_suite() else f"hardly less for reads than one of {plan.program}"))
    return found


def advised(plan: Plan, outcome: Outcome) -> tuple[Folder, Advice, Training]:
    """What to add to the program's build."""
    folder = build_folder.of_program(plan.program, outcome.link.directory, plan.built_in)
    # shlex.join quotes the braces, which need no quotes.
    workload = plan.workloads[0]
    command = shlex.join(workload.words).replace("'{}'", "{}")
    if os.path.basename(workload.called) != os.path.basename(plan.program):
        command = command.replace("{}", shlex.quote(workload.called))
    training = Training(command, plan.record_options(), outcome.has_data, plan.prefetch,
                        tuple(each.path for each in plan.own_libraries), plan.training)
    return folder, advice.advise(folder, plan.program, training), training


def show(plan: Plan, outcome: Outcome, replaced: bool) -> None:
    table = console.table("", "before", "after", numbers=(1, 2))
    for row in _rows(outcome):
        console.add_row(table, *row)
    console.show(table)
    print()
    report = outcome.report
    runs = count(plan.recordings * len(plan.workloads), "run") + (
        f", and {outcome.trained} of {' and '.join(plan.training)}" if outcome.trained else "")
    where = plan.program if replaced else plan.output
    lines = [
        f"link: {outcome.link.source}",
        f"profile: {plan.profile}: {count(outcome.names, 'name')} from {runs}",
        f"program with a front: {where}: {percent(report.placed, report.names)} of the names in a "
        f"front of {report.front_size:,} bytes, density {report.density:.3f}" + (
            f"; {count(report.left_out, 'more name')} would cost more to read with it than to "
            "fault in" if report.left_out else ""),
        *(f"profile of {module}, which has to be linked with it in its own build: {path}"
          for module, path in outcome.libraries.items() if module in plan.modules),
        *(f"library with a front: {each.output}, with the profile {each.profile}" if each.output
          else f"{each.name} gets no front: a start would not wait less for it"
          for each in plan.own_libraries if each.profile),
        *([f"without its libraries, the program has "
           f"{_requests(*outcome.alone)}: a front for them alone is better"]
          if outcome.alone and any(each.output for each in plan.own_libraries)
          and not is_less(*outcome.alone) else []),
        *([f"to run it: {SEARCHED}={plan.library_folder} {plan.output}"]
          if any(each.output for each in plan.own_libraries) else []),
        *(f"output of {each.workload}: {_same(each.same)}: {each.detail}"
          for each in outcome.comparisons),
    ]
    folder, found, training = advised(plan, outcome)
    if lost := outcome.sections.lost():
        lines.append(f"{lost}. With sections of their own, about "
                     f"{round(report.density * report.front_size):,} bytes are left of "
                     f"{report.front_size:,}")
        if commands := advice.build_with_sections(folder, plan.program, training):
            lines += ["to try that, in a copy (add other settings of yours):",
                      *(Command(f"     {each}") for each in commands)]
    for each in outcome.hindrances:
        if each.remedy:
            lines.append(f"left out of the link: {each.option}: {each.why}; {each.remedy}"
                         if each.kind != REPLACED else
                         f"in the link: {each.option}: {each.why}; {each.remedy}")
    if outcome.measurement and outcome.measured_gain() is False and outcome.predicted_gain():
        lines.append("cold starts read no less on this device, which reads "
                     f"{_read_ahead(outcome.measurement)} KiB ahead; they do on devices that read "
                     "less ahead")
    lines += [f"missing: {each.what}: {each.why}; {each.remedy}" for each in outcome.missing]
    if outcome.gain(plan) is not False:
        lines.append("")
        advice.show(folder, found, lines.append)
        lines.append(f"to start with, copy the profile of this trial there: {plan.profile}")
    for line in (*lines, ""):
        say(line)
    good = outcome.good(plan) and outcome.gain(plan)
    say(sentence(plan, outcome), "bold green" if good else "bold yellow")


def _same(same: bool | None) -> str:
    return {True: "the same", False: "NOT the same", None: "cannot be compared"}[same]


def _read_ahead(measurement: "Measurement") -> str:
    found = {place["read_ahead_kib"] for place in measurement.places.values()}
    return " or ".join(sorted(map(str, found - {None}))) or "?"


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    before, after = outcome.before, outcome.after
    rows: list[tuple[str, ...]] = [
        ("file, bytes", f"{before.size:,}", f"{after.size:,}"),
        ("linked by", "ld.frontload" if before.has_front else before.linker, "ld.frontload"),
        ("relative relocations", *("packed" if each.packed_relocations else "not packed"
                                   for each in (before, after)))]
    if outcome.measurement is not None:
        from frontload.measure.results import show_time, time_unit

        for condition in outcome.measurement.plan.conditions:
            one, other = outcome.measured(condition) or ({}, {})
            rows.append((f"{condition}: peak memory, MB",
                         *(_figure(each, "max_rss_bytes", 1e6) for each in (one, other))))
            unit = time_unit(min(each["wall_ns"]["mean"] for each in (one, other)))
            if condition != "warm":
                rows += [(f"{condition}: {label}", *(_figure(each, name, scale)
                                                     for each in (one, other)))
                         for label, name, scale in (("major faults", "major_faults", 1),
                                                    ("MB read", "read_bytes", 1e6),
                                                    ("extents read", "read_runs", 1))]
            rows.append((f"{condition}: {unit}", *(show_time(each["wall_ns"]["mean"], unit)
                                                  for each in (one, other))))
    if outcome.prediction is not None:
        for device in outcome.prediction["devices"]:
            both = [each["devices"][device["name"]] for each in outcome.prediction["variants"]]
            rows.append((f"predicted, {device['name']}: requests, MB, ms",
                         *map(_reads, both)))
    if trained := outcome.on_disk(suite=True):
        rows.append((f"predicted, {DISK}, in training: requests, MB, ms",
                     *map(_reads, trained)))
    return rows


def _reads(figures: "Predicted") -> str:
    return (f"{figures['requests']:.0f}, {figures['read_bytes'] / 1e6:.1f}, "
            f"{1000 * figures['seconds']:.1f}")


def _figure(figures: "dict[str, Figure]", name: str, scale: float) -> str:
    if name not in figures:
        return "?"
    value = figures[name]["median"] / scale
    return f"{value:.0f}" if scale == 1 else f"{value:.3f}"


def write_json(path: str, plan: Plan, outcome: Outcome, replaced: bool) -> None:
    report = outcome.report
    files.write_json(path, {
        "schema": SCHEMA,
        "frontload": __version__,
        "good": outcome.good(plan),
        "verdict": sentence(plan, outcome),
        "reasons": reasons(plan, outcome),
        "program": plan.program,
        "output": plan.program if replaced else plan.output,
        "replaced": replaced,
        "profile": plan.profile,
        "library_profiles": outcome.libraries,
        "libraries": [{"name": each.name, "path": each.path, "profile": each.profile or None,
                       "output": each.output or None, "link": each.link.source}
                      for each in plan.own_libraries],
        "link": {"source": outcome.link.source, "directory": outcome.link.directory,
                 "arguments": list(outcome.link.arguments)},
        "hindrances": [asdict(each) for each in outcome.hindrances],
        "sections": asdict(outcome.sections) | {"lost": outcome.sections.lost() or None},
        "before": asdict(outcome.before),
        "after": asdict(outcome.after),
        "names": outcome.names,
        "trained_runs": outcome.trained,
        "check": {"names": report.names, "present": report.present, "placed": report.placed,
                  "left_out": report.left_out, "coverage": report.coverage,
                  "density": report.density, "front_bytes": report.front_size},
        "comparisons": [asdict(each) for each in outcome.comparisons],
        "measured": _measured(outcome),
        **{key: predicted and {each["name"]: each["devices"] for each in predicted["variants"]}
           for key, predicted in (("predicted", outcome.prediction),
                                  ("predicted_in_training", outcome.suite))},
        "advice": advised(plan, outcome)[1].as_json(),
        "missing": [asdict(each) for each in outcome.missing],
    })


def _measured(outcome: Outcome) -> "dict[str, dict[str, dict[str, Figure]]] | None":
    if outcome.measurement is None:
        return None
    return {condition: dict(zip(("before", "after"), both, strict=True))
            for condition in outcome.measurement.plan.conditions
            if (both := outcome.measured(condition))}
