"""The race of one workload: its rows built, measured in one run, and put down as a document."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from frontload.device import kinds as devices
from frontload.machine import host as measure_host
from frontload.measure import results as measure_report
from frontload.measure.rounds import SELECTIVELY_COLD as COLD
from frontload.measure.rounds import WARM
from frontload.profile import trace

from coldbench.judge import first as judge
from coldbench.judge import replay
from coldbench.measure import limit, recordings, relinks
from coldbench.measure.recordings import Recording
from coldbench.measure.relinks import LinkTime
from coldbench.measure.starts import SLOW, Starts, measure_starts
from coldbench.variants import rows
from coldbench.variants.rows import Row
from coldbench.variants.workload import WorkFolder

DATA_TRACES = "traces.data"


@dataclass
class Contest:
    work: WorkFolder
    rows: list[Row]
    starts: Starts = field(default_factory=Starts)
    links: dict[str, LinkTime] = field(default_factory=dict)
    recordings: dict[str, Recording] = field(default_factory=dict)
    touched_bytes: int | None = None
    predictions: dict[str, dict] = field(default_factory=dict)


def build(work: WorkFolder, chosen: Sequence[Row]) -> None:
    """Builds the rows, and what records them."""
    programs = [work.target(recordings.RECORDERS[name].program)
                for name in _recorders(work, chosen)]
    names = [row.name for row in chosen]
    work.build(list(dict.fromkeys([*work.targets(names), *programs, DATA_TRACES])))


def _recorders(work: WorkFolder, chosen: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in chosen
                              for name in rows.recorders(work.workload, row)))


def run(work: WorkFolder, chosen: Sequence[Row], *, runs: int, device: bool, links: bool,
        recorded: bool, progress: Callable[[str], None]) -> Contest:
    """Measures rows that have been built; with `links` and `recorded` also what these two cost."""
    def say(doing: str) -> None:
        progress(f"{work.workload.name}: {doing}")

    contest = Contest(work, list(chosen))
    contest.touched_bytes = limit.touched_bytes(work.binary(rows.BASE),
                                                trace.find(work.folder / DATA_TRACES))
    if links:
        for row in chosen:
            if row.links_itself:
                targets = [work.target(name) for name in (*row.links, row.name)]
                contest.links[row.name] = relinks.time_link(work, targets, say)
    if recorded:
        for name in _recorders(work, chosen):
            contest.recordings[name] = recordings.time_recording(work, name, say)
    contest.starts = measure_starts(work, [row.name for row in chosen], runs=runs, device=device,
                                    progress=say)
    say("predicting the starts")
    contest.predictions = replay.by_variant(
        replay.replay(work, [row.name for row in chosen], contest.starts))
    return contest


def to_json(contest: Contest) -> dict:
    """The workload's part of the race's document."""
    workload, starts = contest.work.workload, contest.starts
    document = {
        "name": workload.name,
        "title": workload.title or workload.name,
        "command": list(contest.work.command(rows.BASE, contest.work.binary(rows.BASE),
                                             "OUTPUT")),
        "place": _place(starts),
        "missing": starts.missing,
        "warnings": [warning for measured in (starts.plain, starts.throttled) if measured
                     for warning in measure_report.warnings(measured)],
        "limit": {"touched_bytes": contest.touched_bytes},
        "variants": [_variant(contest, row) for row in contest.rows],
        "absent": [{"name": row.name, "title": row.title, "ours": row.ours,
                    "why": workload.absent[row.name]}
                   for row in rows.ROWS if row.name in workload.absent],
        "outputs_are_identical": starts.outputs_are_identical(),
        "recordings": [{"name": name, "title": recordings.RECORDERS[name].title,
                        "seconds": list(recording.seconds),
                        "plain_seconds": list(recording.plain_seconds)}
                       for name, recording in contest.recordings.items()],
    }
    document["verdicts"] = _verdicts(contest)
    return document


def _place(starts: Starts) -> dict:
    place = next(iter(starts.plain.places.values()))
    found = {name: place.get(name) for name in ("file_system", "read_ahead_kib")}
    found["own_device"] = starts.on_device
    slow = devices.find(SLOW)
    found["throttle"] = ({"device": slow.name, "iops": slow.iops,
                          "bytes_per_second": slow.bytes_per_second} if starts.throttled else None)
    return found


def _variant(contest: Contest, row: Row) -> dict:
    starts, work = contest.starts, contest.work
    cold = starts.plain.of(row.name, COLD)
    (state,) = cold[0].files.values()
    warm = measure_report.figures(starts.plain.of(row.name, WARM))
    found = {
        "name": row.name,
        "title": row.title,
        "ours": row.ours,
        "size": work.binary(row.name).stat().st_size,
        "page_size": measure_host.describe_host()["page_size"],
        "read_pages": state.read.to_text() if state.read else None,
        "cold": measure_report.figures(cold),
        "warm": warm,
        "slow": (measure_report.figures(starts.throttled.of(row.name, COLD))
                 if starts.throttled else None),
        "requests": _requests(starts, row.name),
        "slow_by_requests_ns": _slow_by_requests(starts, row.name),
        "link": _link(contest.links.get(row.name)),
        "recording": _recording(contest, row),
        "prediction": contest.predictions.get(row.name),
        "runs": {condition: [_run(run) for run in measured]
                 for condition, measured in _measured(starts, row.name).items()},
    }
    front = work.front(row.name)
    if front:
        found["front"] = front
    return found


def _measured(starts: Starts, name: str) -> dict[str, list]:
    found = {"cold": starts.plain.of(name, COLD), "warm": starts.plain.of(name, WARM)}
    if starts.throttled:
        found["slow"] = starts.throttled.of(name, COLD)
    return found


def _run(run) -> dict:
    """A single run: where in which round, and what it cost."""
    return {"round": run.round, "position": run.position, "label": run.label,
            **{name: figure(run) for name, figure in measure_report.FIGURES.items()}}


def _requests(starts: Starts, name: str) -> dict | None:
    made = starts.requests.get(name)
    if not made:
        return None
    return {"reads": float(np.median([each.reads for each in made])),
            "bytes": float(np.median([each.bytes for each in made])),
            "by_round": [asdict(each) for each in made]}


def _slow_by_requests(starts: Starts, name: str) -> float | None:
    """What a start on the slow device takes by what it asks for: requests or bytes at the device's
    pace, whichever takes longer, and the time of a warm start.

    The kernel's throttle lets what it hands out in 0.1 s through at once, 15 requests and 8 MB: the
    starts of small programs, whole. A disk does not.
    """
    made = _requests(starts, name)
    if made is None:
        return None
    slow = devices.find(SLOW)
    waited = max(made["reads"] / slow.iops, made["bytes"] / slow.bytes_per_second)
    warm = measure_report.figures(starts.plain.of(name, WARM))["wall_ns"]["median"]
    return waited * 1e9 + warm


def _link(link: LinkTime | None) -> dict | None:
    return link and {"seconds": link.median, "runs": list(link.seconds)}


def _recording(contest: Contest, row: Row) -> list[dict] | None:
    """The slowdown by each recorder of a row."""
    names = rows.recorders(contest.work.workload, row)
    if not names or not contest.recordings:
        return None
    return [{"recorder": name, "slowdown": contest.recordings[name].slowdown} for name in names]


def _verdicts(contest: Contest) -> list[dict]:
    starts = contest.starts
    figures = {row.name: _figures(starts, row.name) for row in contest.rows}
    ours = {row.name: figures[row.name] for row in contest.rows if row.ours}
    peers = {row.name: figures[row.name] for row in contest.rows if not row.ours}
    if not (ours and peers):
        return []
    return [asdict(verdict) for verdict in judge.verdicts(ours, peers)]


def _figures(starts: Starts, name: str) -> judge.Figures:
    found = measure_report.figures(starts.plain.of(name, COLD))
    counts = {figure: seen["median"] for figure, seen in found.items()}
    if not starts.on_device:
        # Another file system's readahead decides there, and nothing of it is verified.
        return judge.Figures({}, {})
    counts["all_faults"] = counts["major_faults"] + counts["minor_faults"]
    counts["slow_by_requests_ns"] = _slow_by_requests(starts, name)
    times = {"cold": [run.sample.wall_ns for run in starts.plain.of(name, COLD)]}
    if starts.throttled:
        times["throttled"] = [run.sample.wall_ns for run in starts.throttled.of(name, COLD)]
    return judge.Figures(counts, times)
