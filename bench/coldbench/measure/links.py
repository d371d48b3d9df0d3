"""What links cost: the time of each row's link, and both linkers in pairs.

A link is Ninja's command for a target, run again, through the compiler driver as users link.
Linking again gives the same files, so we hide it from Ninja: every file gets its old time back. A
row's link leaves out the map that the default's writes for our profiles, because others would not
write it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from frontload.base.errors import Failure
from frontload.measure import statistics as measure_statistics
from frontload.measure.launcher import Launcher, Sample
from frontload.measure.plan import orders
from frontload.measure.statistics import Interval

from coldbench.variants.work_folder import WorkFolder

LINKERS = ("ld.lld", "ld.frontload")  # of a workload's timed_links
# A cheap link is repeated, and its time is the median; a longer one is timed once.
CHEAP_SECONDS = 10
REPEATED = 3
_MAP = re.compile(r"\s(-Wl,-Map|--Map)=\S+")  # of a compiler's link, and of lld's own


def _link(work: WorkFolder, target: str, command: str, launcher) -> Sample:
    with untouched(work.folder, target):
        sample = launcher.run(["sh", "-c", f'cd "$0" && {command}', str(work.folder)])
    if sample.failed:
        raise Failure(f"{target}: the link {sample.how_it_ended()}: {sample.complaint}")
    return sample


@contextmanager
def untouched(folder: Path, target: str) -> Iterator[None]:
    """Within `with`, `target` may be made again; afterwards it is its old file, or gone, and no
    file in the folder is newer than before."""
    made, aside = folder / target, folder / f"{target}.aside"
    times = {entry.path: entry.stat().st_mtime_ns for entry in os.scandir(folder)
             if entry.is_file()}
    if made.exists():
        made.rename(aside)
    try:
        yield
    finally:
        made.unlink(missing_ok=True)
        if aside.exists():
            aside.rename(made)
        for path, time in times.items():
            if os.path.exists(path) and os.stat(path).st_mtime_ns != time:
                os.utime(path, ns=(time, time))


def time_link(work: WorkFolder, targets: Iterable[str], progress: Callable[[str], None],
              launcher=None) -> dict:
    """Links the targets one after the other, all of which are one row's link; returns the seconds
    of each time, and their median."""
    launcher = launcher or Launcher()
    commands = {target: _MAP.sub("", work.build_command(target)) for target in targets}
    seconds: list[float] = []
    with work.environment():
        while not seconds or (seconds[0] < CHEAP_SECONDS and len(seconds) < REPEATED):
            progress(f"link {len(seconds) + 1} of {[*commands][-1]}")
            seconds.append(sum(_link(work, target, command, launcher).wall_ns
                               for target, command in commands.items()) / 1e9)
    return {"seconds": float(np.median(seconds)), "runs": seconds}


@dataclass(frozen=True)
class Links:
    """The links of each pair, in the order of LINKERS."""

    pairs: list[tuple[Sample, Sample]]

    def _figures(self, figure: str) -> np.ndarray:
        """A row for each linker."""
        return np.array([[getattr(sample, figure) for sample in pair] for pair in self.pairs],
                        float).T

    @property
    def time_ratio(self) -> Interval:
        return self._ratio("wall_ns")

    @property
    def memory_ratio(self) -> Interval:
        return self._ratio("max_rss_kib")

    def _ratio(self, figure: str) -> Interval:
        """The median of the pairs' ratios: one disturbed link moves the interval, not it."""
        base, ours = self._figures(figure)
        found = measure_statistics.ratio(ours, base)
        return Interval(float(np.median(ours / base)), found.low, found.high)

    def to_json(self) -> dict:
        costs = zip(LINKERS, np.median(self._figures("wall_ns"), axis=1) / 1e9,
                    np.median(self._figures("max_rss_kib"), axis=1) * 1024, strict=True)
        return {
            "time_ratio": asdict(self.time_ratio),
            "memory_ratio": asdict(self.memory_ratio),
            "linkers": {linker: {"seconds": float(seconds), "peak_bytes": float(peak)}
                        for linker, seconds, peak in costs},
            "pairs": [dict(zip(LINKERS, map(vars, pair), strict=True)) for pair in self.pairs],
        }


def time_pairs(work: WorkFolder, count: int, progress: Callable[[str], None],
               launcher=None) -> Links:
    """Each pair has a link by both linkers, in changing order, after a link of each to warm up."""
    launcher = launcher or Launcher()
    targets = work.workload.timed_links
    commands = [work.build_command(target) for target in targets]
    pairs = []
    for number, order in enumerate([range(len(LINKERS)), *orders(len(LINKERS), count, seed=1)]):
        pair: dict[int, Sample] = {}
        for index in order:
            progress(f"link {number} by {LINKERS[index]}")
            pair[index] = _link(work, targets[index], commands[index], launcher)
        pairs.append((pair[0], pair[1]))
    return Links(pairs[1:])
