"""Who is first: whether one of our rows beats every peer's, figure by figure.

A count is ahead if its median is smaller. Times are compared by their ratio to each peer's, paired
by round: a time is ahead if the whole 95% confidence interval of the ratio is below 1, and behind
if all of it is above. A verdict holds if ours is first, and fails if it is behind; otherwise it is
too close to tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from frontload.measure import statistics as measure_statistics

from coldbench.judge.figures import PLAIN, THROTTLED, Figures

COUNTS = {"major_faults": "major faults", "all_faults": "faults, minor ones too",
          "read_bytes": "bytes read", "slow_by_requests_ns": "time of the slow device's requests"}
TIMES = {"cold": (PLAIN, "cold time, plain device"),
         "throttled": (THROTTLED, "cold time, slow device")}
_SAY = {"read_bytes": lambda value: f"{value / 1e6:.2f} MB",
        "slow_by_requests_ns": lambda value: f"{value / 1e9:.3f} s"}


@dataclass(frozen=True)
class Verdict:
    text: str
    holds: bool | None  # None: too close to tell
    figure: str


def verdicts(figures: Figures, ours: Sequence[str], peers: Sequence[str]) -> list[Verdict]:
    """One for each figure that all of these variants have."""
    if not (ours and peers):
        return []
    everybody = [*ours, *peers]
    found = [_count(figures, name, ours, peers) for name in COUNTS
             if all(name in figures.medians[variant] for variant in everybody)]
    return found + [_time(figures, name, ours, peers) for name, (condition, _) in TIMES.items()
                    if all((variant, condition) in figures.times for variant in everybody)]


def _count(figures: Figures, name: str, ours: Sequence[str], peers: Sequence[str]) -> Verdict:
    def value(variant: str) -> float:
        return figures.medians[variant][name]

    best, ahead = min(ours, key=value), min(peers, key=value)
    first = None if value(best) == value(ahead) else value(best) < value(ahead)
    say = _SAY.get(name, "{:g}".format)
    said = ", ".join(f"{variant} {say(value(variant))}" for variant in (best, ahead))
    return Verdict(f"{COUNTS[name]}: {said}", first, name)


def _time(figures: Figures, name: str, ours: Sequence[str], peers: Sequence[str]) -> Verdict:
    condition, title = TIMES[name]

    def times(variant: str) -> Sequence[float]:
        return figures.times[variant, condition]

    def median(variant: str) -> float:
        return float(np.median(times(variant)))

    best, ahead = min(ours, key=median), min(peers, key=median)
    # The peer with the fastest median need not be the hardest to tell from ours.
    ratios = [measure_statistics.ratio(times(best), times(peer)) for peer in peers]
    if any(ratio.low is None for ratio in ratios):
        first = None
    elif any(ratio.low > 1 for ratio in ratios):
        first = False
    else:
        first = True if all(ratio.high < 1 for ratio in ratios) else None
    return Verdict(f"{title}: {best} {median(best) / 1e9:.3f} s, {ahead} {median(ahead) / 1e9:.3f} "
                   "s", first, name)
