"""Who is first: whether one of our rows beats every peer's, figure by figure.

A count is ahead if its median is smaller. A time is ahead if the ratio to each peer's, paired by
round, is below 1 with all of its 95% confidence interval, and behind if it is above with all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from frontload.measure import statistics as measure_statistics

COUNTS = {"major_faults": "major faults", "all_faults": "faults, minor ones too",
          "read_bytes": "bytes read", "slow_by_requests_ns": "time of the slow device's requests"}
TIMES = {"cold": "cold time, plain device", "throttled": "cold time, slow device"}


@dataclass(frozen=True)
class Figures:
    """What is compared of a row: medians of counts, and the times of each round."""

    counts: Mapping[str, float]
    times: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Verdict:
    figure: str
    first: bool | None  # None: too close to tell
    text: str


def verdicts(ours: Mapping[str, Figures], peers: Mapping[str, Figures]) -> list[Verdict]:
    """One for each figure that all rows have."""
    everybody = [*ours.values(), *peers.values()]
    found = [_count(name, title, ours, peers) for name, title in COUNTS.items()
             if all(name in row.counts for row in everybody)]
    return found + [_time(name, title, ours, peers) for name, title in TIMES.items()
                    if all(name in row.times for row in everybody)]


def _count(name: str, title: str, ours, peers) -> Verdict:
    best, ahead = (min(rows, key=lambda row: rows[row].counts[name]) for rows in (ours, peers))
    value, other = ours[best].counts[name], peers[ahead].counts[name]
    first = None if value == other else value < other
    return Verdict(name, first, f"{title}: {best} {_say(name, value)}, {ahead} "
                   f"{_say(name, other)}")


def _say(name: str, value: float) -> str:
    if name.endswith("_ns"):
        return f"{value / 1e9:.3f} s"
    return f"{value / 1e6:.2f} MB" if name.endswith("_bytes") else f"{value:g}"


def _time(name: str, title: str, ours, peers) -> Verdict:
    best, ahead = (min(rows, key=lambda row: float(np.median(rows[row].times[name])))
                   for rows in (ours, peers))
    # The fastest peer by its median need not be the one that is hardest to tell from ours.
    ratios = [measure_statistics.ratio(ours[best].times[name], peer.times[name])
              for peer in peers.values()]
    if any(ratio.low is None for ratio in ratios):
        first = None
    elif any(ratio.low > 1 for ratio in ratios):
        first = False
    else:
        first = True if all(ratio.high < 1 for ratio in ratios) else None
    mine, other = (float(np.median(rows[row].times[name])) / 1e9
                   for rows, row in ((ours, best), (peers, ahead)))
    return Verdict(name, first, f"{title}: {best} {mine:.3f} s, {ahead} {other:.3f} s")
