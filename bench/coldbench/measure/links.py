"""The cost of the linker: ld.frontload against ld.lld, by paired links of the same program."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from frontload.base.errors import Failure
from frontload.measure import statistics as measure_statistics
from frontload.measure.launcher import Launcher, Sample
from frontload.measure.plan import orders
from frontload.measure.statistics import Interval

from coldbench.variants.work_folder import WorkFolder

LINKERS = ("ld.lld", "ld.frontload")


@dataclass(frozen=True)
class Links:
    """The links of each pair, in the order of LINKERS."""

    pairs: list[tuple[Sample, Sample]]

    @property
    def time_ratio(self) -> Interval:
        return self._ratio("wall_ns")

    @property
    def memory_ratio(self) -> Interval:
        return self._ratio("max_rss_kib")

    def _ratio(self, figure: str) -> Interval:
        """The median of the pairs' ratios: one disturbed link moves the interval, not it."""
        base, ours = np.array([[getattr(sample, figure) for sample in pair]
                               for pair in self.pairs], float).T
        found = measure_statistics.ratio(ours, base)
        return Interval(float(np.median(ours / base)), found.low, found.high)

    def seconds(self, linker: str) -> float:
        return float(np.median([pair[LINKERS.index(linker)].wall_ns for pair in self.pairs])) / 1e9

    def peak_bytes(self, linker: str) -> float:
        return float(np.median([pair[LINKERS.index(linker)].max_rss_kib
                                for pair in self.pairs])) * 1024

    def to_json(self) -> dict:
        return {
            "time_ratio": asdict(self.time_ratio),
            "memory_ratio": asdict(self.memory_ratio),
            "linkers": {linker: {"seconds": self.seconds(linker),
                                 "peak_bytes": self.peak_bytes(linker)} for linker in LINKERS},
            "pairs": [dict(zip(LINKERS, map(vars, pair), strict=True)) for pair in self.pairs],
        }


def run_link(folder: Path, target: str, command: str, launcher) -> Sample:
    """Links by Ninja's command for a target; a link that fails is an error."""
    sample = launcher.run(["sh", "-c", f'cd "$0" && {command}', str(folder)])
    if sample.failed:
        raise Failure(f"{target}: the link {sample.how_it_ended()}: {sample.complaint}")
    return sample


def time_links(work: WorkFolder, pairs: int, progress, launcher=None) -> Links:
    launcher = launcher or Launcher()
    targets = work.workload.timed_links
    commands = [work.build_command(target) for target in targets]

    def link(linker: str) -> Sample:
        index = LINKERS.index(linker)
        # Through the compiler driver, as users link; it costs both linkers the same 20 ms.
        try:
            return run_link(work.folder, targets[index], commands[index], launcher)
        finally:
            (work.folder / targets[index]).unlink(missing_ok=True)

    return link_in_pairs(link, pairs, progress)


def link_in_pairs(link: Callable[[str], Sample], pairs: int, progress) -> Links:
    """Each pair has a link by both linkers, in changing order; `link` gets one of LINKERS."""
    for linker in LINKERS:
        progress(f"warm-up link by {linker}")
        link(linker)
    found = []
    for number, order in enumerate(orders(len(LINKERS), pairs, seed=1)):
        pair: list[Sample | None] = [None, None]
        for index in order:
            progress(f"link {number + 1} by {LINKERS[index]}")
            pair[index] = link(LINKERS[index])
        found.append(tuple(pair))
    return Links(found)
