"""What bench/run does in which order, and what comes out."""

import filecmp
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coldbench.judge.replay import replay
from coldbench.measure.links import Links, time_links
from coldbench.measure.starts import Starts, measure_starts
from coldbench.variants.workload import WorkFolder


@dataclass
class Result:
    work: WorkFolder
    variants: tuple[str, ...]
    starts: Starts = field(default_factory=Starts)
    links: Links | None = None
    same_files: list[tuple[str, bool]] = field(default_factory=list)
    predictions: list[dict] = field(default_factory=list)  # as replay.py has them


def run(work: WorkFolder, variants: Sequence[str], *, runs: int, link_runs: int, device: bool,
        progress: Callable[[str], None]) -> Result:
    """Builds and measures; link_runs == 0 leaves out all that is about linking."""
    result = Result(work, tuple(variants))
    progress("building the variants")
    comparisons = work.workload.same_files if link_runs else ()
    targets = work.targets(variants)
    targets += [target for _, *pair in comparisons for target in pair]
    work.build(list(dict.fromkeys(targets)))
    if link_runs:
        if work.workload.timed_links:
            result.links = time_links(work, link_runs, progress)
        result.same_files = [
            (sentence, filecmp.cmp(work.folder / one, work.folder / other, shallow=False))
            for sentence, one, other in comparisons]
    result.starts = measure_starts(work, variants, runs=runs, device=device, progress=progress)
    progress("predicting the starts")
    result.predictions = replay(work, variants, result.starts)
    return result
