"""The steps of bench/run for a workload, in order, and their result."""

import filecmp
from collections.abc import Callable, Sequence

from frontload.measure import document as measurements

from coldbench.judge.verdicts import Verdict, judge_ratio
from coldbench.measure.links import Links, time_links
from coldbench.session import Session
from coldbench.show import document
from coldbench.variants.work_folder import WorkFolder

LINK_LIMIT = 1.10


def run(work: WorkFolder, variants: Sequence[str], *, runs: int, link_runs: int, device: bool,
        judged: bool, progress: Callable[[str], None]) -> dict:
    """Builds and measures; returns the workload's part of the document. link_runs == 0 leaves out
    everything about linking."""
    progress("building the variants")
    workload = work.workload
    comparisons = workload.same_files if link_runs else ()
    work.build([*work.targets(variants), *(target for _, *pair in comparisons for target in pair)])
    links = time_links(work, link_runs, progress) if link_runs and workload.timed_links else None
    same_files = [
        Verdict(sentence, filecmp.cmp(work.folder / one, work.folder / other, shallow=False))
        for sentence, one, other in comparisons]
    session = Session(work, variants, runs=runs, device=device, progress=progress)
    verdicts = [
        *(requirement.judge(session.figures) for requirement in workload.requirements),
        Verdict("the program's output is identical in all variants",
                session.workload["outputs_are_identical"]),
        *_judge_links(links), *same_files, *session.predictions]
    return session.workload | {
        "links": links and links.to_json(),
        "verdicts": document.required(verdicts if judged else ()),
        "measurements": {name: measurements.to_json(measurement)
                         for name, measurement in session.starts.measurements.items()},
    }


def _judge_links(links: Links | None) -> list[Verdict]:
    if links is None:
        return []
    return [judge_ratio(what, "ld.lld's", ratio, at_most=LINK_LIMIT)
            for what, ratio in (("link time with a profile", links.time_ratio),
                                ("peak memory of the link", links.memory_ratio))]
