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
from frontload.auto.trial import Outcome, Plan
from frontload.base import console, files
from frontload.base.errors import count, percent, printable

if TYPE_CHECKING:
    from frontload.measure.measurement import Measurement
    from frontload.measure.results import Figure

SCHEMA = "frontload-auto/1"


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
        found.append(f"{plan.output}: a cold start of it waits no less for reads than one of "
                     f"{plan.program}")
    return found


def advised(plan: Plan, outcome: Outcome) -> tuple[Folder, Advice]:
    """What to add to the program's build."""
    folder = build_folder.of_program(plan.program, outcome.link.directory, plan.built_in)
    # shlex.join quotes the braces, which need no quotes.
    workload = plan.workloads[0]
    command = shlex.join(workload.words).replace("'{}'", "{}")
    if os.path.basename(workload.called) != os.path.basename(plan.program):
        command = command.replace("{}", shlex.quote(workload.called))
    return folder, advice.advise(folder, plan.program, Training(
        command, plan.record_options(), outcome.has_data, plan.prefetch))


def show(plan: Plan, outcome: Outcome, replaced: bool) -> None:
    table = console.table("", "before", "after", numbers=(1, 2))
    for row in _rows(outcome):
        console.add_row(table, *row)
    console.show(table)
    print()
    report = outcome.report
    runs = count(plan.recordings * len(plan.workloads), "run")
    where = plan.program if replaced else plan.output
    lines = [
        f"link: {outcome.link.source}",
        f"profile: {plan.profile}: {count(outcome.names, 'name')} from {runs}",
        f"program with a front: {where}: {percent(report.placed, report.names)} of the names in a "
        f"front of {report.front_size:,} bytes, density {report.density:.3f}" + (
            f"; {count(report.left_out, 'more name')} would cost more to read with it than to "
            "fault in" if report.left_out else ""),
        *(f"profile of {module}, which has to be linked with it in its own build: {path}"
          for module, path in outcome.libraries.items()),
        *(f"output of {each.workload}: {_same(each.same)}: {each.detail}"
          for each in outcome.comparisons),
    ]
    if lost := outcome.sections.lost():
        lines.append(lost)
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
    for line in lines:
        print(printable(line))
    print()
    folder, found = advised(plan, outcome)
    advice.show(folder, found, lambda line: print(printable(line)))
    print(printable(f"to start with, copy the profile of this trial there: {plan.profile}"))


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
        from frontload.measure.results import figures, show_time, time_unit

        for condition in outcome.measurement.plan.conditions:
            one, other = (figures(outcome.measurement.of(name, condition))
                          for name in ("before", "after"))
            unit = time_unit(min(each["wall_ns"]["mean"] for each in (one, other)))
            if condition != "warm":
                rows += [(f"{condition}: {label}", *(_figure(each, name, scale)
                                                     for each in (one, other)))
                         for label, name, scale in (("major faults", "major_faults", 1),
                                                    ("MB read", "read_bytes", 1e6),
                                                    ("runs read", "read_runs", 1))]
            rows.append((f"{condition}: {unit}", *(show_time(each["wall_ns"]["mean"], unit)
                                                  for each in (one, other))))
    if outcome.prediction is not None:
        for device in outcome.prediction["devices"]:
            both = [each["devices"][device["name"]] for each in outcome.prediction["variants"]]
            rows.append((f"predicted, {device['name']}: requests, MB, ms",
                         *(f"{each['requests']:.0f}, {each['read_bytes'] / 1e6:.1f}, "
                           f"{1000 * each['seconds']:.1f}" for each in both)))
    return rows


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
        "reasons": reasons(plan, outcome),
        "program": plan.program,
        "output": plan.program if replaced else plan.output,
        "replaced": replaced,
        "profile": plan.profile,
        "library_profiles": outcome.libraries,
        "link": {"source": outcome.link.source, "directory": outcome.link.directory,
                 "arguments": list(outcome.link.arguments)},
        "hindrances": [asdict(each) for each in outcome.hindrances],
        "sections": asdict(outcome.sections) | {"lost": outcome.sections.lost() or None},
        "before": asdict(outcome.before),
        "after": asdict(outcome.after),
        "names": outcome.names,
        "check": {"names": report.names, "present": report.present, "placed": report.placed,
                  "left_out": report.left_out, "coverage": report.coverage,
                  "density": report.density, "front_bytes": report.front_size},
        "comparisons": [asdict(each) for each in outcome.comparisons],
        "measured": _measured(outcome),
        "predicted": outcome.prediction and {
            each["name"]: each["devices"] for each in outcome.prediction["variants"]},
        "advice": advised(plan, outcome)[1].as_json(),
        "missing": [asdict(each) for each in outcome.missing],
    })


def _measured(outcome: Outcome) -> "dict[str, dict[str, dict[str, Figure]]] | None":
    if outcome.measurement is None:
        return None
    from frontload.measure.results import figures

    return {condition: {name: figures(outcome.measurement.of(name, condition))
                        for name in ("before", "after")}
            for condition in outcome.measurement.plan.conditions}
