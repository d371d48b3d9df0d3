"""bench/race: builds the rows of each workload, and measures all of a workload in one session.

A workload's other variants, and all of one that has no part in the race, are measured on request.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from frontload.base import errors
from frontload.cli.arguments import count
from frontload.measure import doubts
from frontload.profile import trace

from coldbench import command
from coldbench.judge import figures, first, replay
from coldbench.measure import limit, links, recordings
from coldbench.measure.starts import measure_starts
from coldbench.show import document, page
from coldbench.variants import rows, workload
from coldbench.variants.rows import Row
from coldbench.variants.work_folder import DATA_TRACES, WorkFolder, work_folder

WORKLOADS = ("cc1", "postgresql", "cpython", "git", "wasm-tools")


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/race", description="Build several programs in every way that makes them start "
        "faster, and measure all of these from cold in one run, on a device of their own (needs "
        "root). bench/table makes the documents' tables from the result.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=list(WORKLOADS),
                        help=f"folders of bench/workloads (default: {' '.join(WORKLOADS)})")
    parser.add_argument("--runs", metavar="N", type=count(1), default=5,
                        help="rounds of each kind (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/race.json in --build-dir)")
    parser.add_argument("--rows", metavar="NAME,...", help="only these, or other variants of the "
                        "workloads (default: all rows)")
    parser.add_argument("--link-runs", metavar="N", type=count(0), default=3,
                        help="timed links of each row (default %(default)s; 0: none)")
    parser.add_argument("--no-recordings", action="store_true", help="do not time recordings")
    command.add_build_options(parser)
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where variants are built, a folder for each program (default: bench "
                        "in --build-dir)")
    return parser.parse_args(argv)


def _recorders(work: WorkFolder, chosen: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in chosen
                              for name in rows.recorders(work.workload, row)))


def build(work: WorkFolder, chosen: Sequence[Row]) -> None:
    """Builds the rows, and the programs that record them."""
    programs = [work.target(recordings.RECORDERS[name].program)
                for name in _recorders(work, chosen)]
    work.build([*work.targets(row.name for row in chosen), *programs, DATA_TRACES])


def measure(work: WorkFolder, chosen: Sequence[Row], args: argparse.Namespace,
            progress: Callable[[str], None]) -> dict:
    """Measures built rows, their links and recordings; returns the workload's part of the
    document."""
    described = work.workload

    def say(doing: str) -> None:
        progress(f"{described.name}: {doing}")

    # A workload of another one's program was not recorded at the work that is measured.
    touched = None if described.program else limit.touched_bytes(
        work.binary(rows.BASE), trace.find(work.folder / DATA_TRACES))
    linked = links.time_links(
        work, {row.name: [*map(work.target, (*row.links, row.name))] for row in chosen
               if row.links_itself}, args.link_runs, say) if args.link_runs else {}
    recorded = {name: recordings.slowdown(work, name, say)
                for name in _recorders(work, chosen) if not args.no_recordings}
    starts = measure_starts(work, [row.name for row in chosen], args.runs, say)
    measured = [figures.of_variant(work, starts, row.name) for row in chosen]
    place = figures.place(starts)
    say("predicting the starts")
    predictions = replay.replay(work, measured, place)
    verdicts = first.verdicts(figures.to_judge(starts, measured),
                              [row.name for row in chosen if row.ours],
                              [row.name for row in chosen if not row.ours])
    return {
        "name": described.name,
        "title": described.title or described.name,
        "command": list(work.command(rows.BASE, work.binary(rows.BASE), "OUTPUT")),
        "place": place,
        "missing": starts.missing,
        "warnings": [warning for measurement in starts.measurements.values()
                     for warning in doubts.warnings(measurement)],
        "outputs_are_identical": starts.outputs_are_identical(),
        "limit": {"touched_bytes": touched},
        "variants": [variant | {
            "title": row.title,
            "ours": row.ours,
            "prediction": predictions[row.name],
            "link": linked.get(row.name),
            "recording": [{"recorder": name, "slowdown": recorded[name]}
                          for name in rows.recorders(described, row) if recorded] or None,
            "runs": {condition: [{"round": each.round, "position": each.position,
                                  "label": each.label, **figures.of_run(each)} for each in these]
                     for condition, these in starts.by_condition(row.name).items()},
        } for row, variant in zip(chosen, measured, strict=True)],
        "absent": [{"name": row.name, "title": row.title, "ours": row.ours,
                    "why": described.absent[row.name]}
                   for row in rows.ROWS if row.name in described.absent],
        "verdicts": [{"figure": verdict.figure, "first": verdict.holds, "text": verdict.text}
                     for verdict in verdicts],
    }


def run(args: argparse.Namespace) -> int:
    base = args.work_dir or args.build_dir / "bench"
    loaded = [workload.load(name) for name in args.workloads]  # a wrong name shows before the work
    wanted = args.rows and {rows.BASE, *command.choose("--rows", args.rows, list(dict.fromkeys(
        row.name for described, _ in loaded for row in rows.of(described, True))), "row")}
    prepared = [(described, source, [row for row in rows.of(described, bool(wanted))
                                     if not wanted or row.name in wanted])
                for described, source in loaded]
    file = args.json or base / "race.json"
    result = document.head(document.RACE, runs=args.runs, workloads=[])
    with command.progress() as progress:
        works = []
        for described, source, chosen in prepared:  # all before the first is measured
            works.append(work_folder(described, source, args.build_dir, args.llvm,
                                     base / described.folder_name))
            progress(f"{described.name}: building the variants")
            build(works[-1], chosen)
        for work, (_, _, chosen) in zip(works, prepared, strict=True):
            measured = measure(work, chosen, args, progress)
            result["workloads"].append(measured)
            document.write(file, result)
    print(page.render(result))
    for measured in result["workloads"]:
        for warning in measured["warnings"]:
            errors.warning(f"{measured['name']}: {warning}")
    print(f"every run is in {file}")
    same = all(each["outputs_are_identical"] for each in result["workloads"])
    return errors.EXIT_OK if same else errors.EXIT_VERDICT
