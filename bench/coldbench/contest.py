"""The race of one workload: builds its rows, measures them in one run, and writes the document."""

from collections.abc import Callable, Sequence

from frontload.profile import trace

from coldbench.judge import figures, first
from coldbench.measure import limit, recordings, relinks
from coldbench.measure.recordings import Recording
from coldbench.measure.relinks import LinkTime
from coldbench.session import Session
from coldbench.show import document
from coldbench.variants import rows
from coldbench.variants.rows import Row
from coldbench.variants.work_folder import DATA_TRACES, WorkFolder


def build(work: WorkFolder, chosen: Sequence[Row]) -> None:
    """Builds the rows, and the programs that record them."""
    programs = [work.target(recordings.RECORDERS[name].program)
                for name in _recorders(work, chosen)]
    work.build([*work.targets(row.name for row in chosen), *programs, DATA_TRACES])


def run(work: WorkFolder, chosen: Sequence[Row], *, runs: int, device: bool, links: bool,
        recorded: bool, progress: Callable[[str], None]) -> dict:
    """Measures built rows, with `links` and `recorded` also the cost of these two; returns the
    workload's part of the document."""
    workload = work.workload

    def say(doing: str) -> None:
        progress(f"{workload.name}: {doing}")

    touched = limit.touched_bytes(work.binary(rows.BASE), trace.find(work.folder / DATA_TRACES))
    linked = {row.name: relinks.time_link(work, _links(work, row), say)
              for row in chosen if links and row.links_itself}
    recording = {name: recordings.time_recording(work, name, say)
                 for name in (_recorders(work, chosen) if recorded else ())}
    session = Session(work, [row.name for row in chosen], runs=runs, device=device, progress=say)
    verdicts = first.verdicts(session.figures, [row.name for row in chosen if row.ours],
                              [row.name for row in chosen if not row.ours])
    return session.workload | {
        "limit": {"touched_bytes": touched},
        "variants": [variant | {
            "title": row.title,
            "ours": row.ours,
            "link": _link(linked.get(row.name)),
            "recording": _recording(recording, rows.recorders(workload, row)),
            "runs": {condition: [{"round": each.round, "position": each.position,
                                  "label": each.label, **figures.of_run(each)} for each in these]
                     for condition, these in session.starts.by_condition(row.name).items()},
        } for row, variant in zip(chosen, session.workload["variants"], strict=True)],
        "absent": [{"name": row.name, "title": row.title, "ours": row.ours,
                    "why": workload.absent[row.name]}
                   for row in rows.ROWS if row.name in workload.absent],
        "recordings": [{"name": name, "title": recordings.RECORDERS[name].title,
                        "seconds": list(each.seconds), "plain_seconds": list(each.plain_seconds)}
                       for name, each in recording.items()],
        "verdicts": document.compared(verdicts),
    }


def _recorders(work: WorkFolder, chosen: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in chosen
                              for name in rows.recorders(work.workload, row)))


def _links(work: WorkFolder, row: Row) -> list[str]:
    return [work.target(name) for name in (*row.links, row.name)]


def _link(link: LinkTime | None) -> dict | None:
    return link and {"seconds": link.median, "runs": list(link.seconds)}


def _recording(recorded: dict[str, Recording], names: Sequence[str]) -> list[dict] | None:
    """The slowdown by each recorder of a row."""
    if not names or not recorded:
        return None
    return [{"recorder": name, "slowdown": recorded[name].slowdown} for name in names]
