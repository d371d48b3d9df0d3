"""Verdicts: the figures that a workload must show, and whether it did.

Figures are those of figures.py. A requirement whose variant was not measured is neither held nor
failed: it is not judged.
"""

from dataclasses import dataclass

import numpy as np
from frontload.measure import statistics as measure_statistics
from frontload.measure.statistics import Interval

from coldbench.judge.figures import Figures, Start, say

UNITS = {"major_faults": "major faults", "read_bytes": "MB read", "read_runs": "extents read",
         "max_rss_bytes": "MB peak RSS", "front_text_bytes": "MB of text in the front",
         "front_rodata_bytes": "MB of rodata in the front"}


@dataclass(frozen=True)
class Verdict:
    text: str
    holds: bool | None  # None: not judged, or too close to tell
    figure: str = ""  # the judged figure, if it is one figure of all variants


@dataclass(frozen=True)
class Near:
    """The yardstick: if it is off, the machine measures something else."""

    variant: str
    figure: str
    about: float
    within: float

    def judge(self, figures: Figures) -> Verdict:
        return _judge(self, figures, f"about {say(self.figure, self.about)}",
                      lambda value: abs(value / self.about - 1) <= self.within)


@dataclass(frozen=True)
class AtMost:
    variant: str
    figure: str
    limit: float

    def judge(self, figures: Figures) -> Verdict:
        return _judge(self, figures, f"at most {say(self.figure, self.limit)}",
                      lambda value: value <= self.limit)


@dataclass(frozen=True)
class Fewer:
    variant: str
    than: str
    figure: str

    def judge(self, figures: Figures) -> Verdict:
        if self.figure not in figures.medians.get(self.than, {}):
            return Verdict(f"{self.variant}: fewer {UNITS[self.figure]} than {self.than}", None)
        other = figures.medians[self.than][self.figure]
        return _judge(self, figures, f"fewer than {self.than} ({say(self.figure, other)})",
                      lambda value: value < other)


@dataclass(frozen=True)
class TimesAsLong:
    """How many times as long one start takes as another, paired by round."""

    start: Start
    than: Start
    at_least: float | None = None
    at_most: float | None = None

    def judge(self, figures: Figures) -> Verdict:
        what, than = f"time of {self.start}", f"that of {self.than}"
        limits = {"at_least": self.at_least, "at_most": self.at_most}
        if self.start not in figures.times or self.than not in figures.times:
            return Verdict(f"{what}: times {than}: {_wanted(**limits)}", None)
        ratio = measure_statistics.ratio(figures.times[self.start], figures.times[self.than])
        return judge_ratio(what, than, ratio, **limits)


@dataclass(frozen=True)
class ShareOfGain:
    """The share of the best start's saving over the base that this start saves, in medians."""

    start: Start
    base: Start
    best: Start
    at_least: float

    def judge(self, figures: Figures) -> Verdict:
        text = f"{self.start}: share of what {self.best.variant} saves over {self.base.variant}"
        wanted = f"at least {self.at_least:.2f}"
        starts = (self.base, self.start, self.best)
        if any(start not in figures.times for start in starts):
            return Verdict(f"{text}: {wanted}", None)
        base, own, best = (float(np.median(figures.times[start])) for start in starts)
        if base <= best:
            return Verdict(f"{text}: {self.best.variant} saves nothing", False)
        share = (base - own) / (base - best)
        return Verdict(f"{text}: {share:.2f}: {wanted}", share >= self.at_least)


def _judge(requirement, figures: Figures, wanted: str, holds) -> Verdict:
    variant, figure = requirement.variant, requirement.figure
    if figure not in figures.medians.get(variant, {}):
        return Verdict(f"{variant}: {UNITS[figure]}: {wanted}", None)
    value = figures.medians[variant][figure]
    return Verdict(f"{variant}: {say(figure, value)} {UNITS[figure]}: {wanted}", holds(value))


def judge_ratio(what: str, than: str, ratio: Interval, *, at_least: float | None = None,
                at_most: float | None = None) -> Verdict:
    """Fails only if the whole interval is beyond the limit: noise alone can move the estimate."""
    def beyond(value: float) -> bool:
        return value < at_least if at_most is None else value > at_most

    text = f"{what}: {ratio.estimate:.3f} times {than}: {_wanted(at_least, at_most)}"
    if not beyond(ratio.estimate):
        return Verdict(text, True)
    nearest = ratio.high if at_most is None else ratio.low
    if nearest is None:
        return Verdict(f"{text}: one pair is too few to tell", None)
    text += f" (95% interval {ratio.low:.3f} to {ratio.high:.3f})"
    if beyond(nearest):
        return Verdict(text, False)
    return Verdict(f"{text}: the machine is too noisy to tell", None)


def _wanted(at_least: float | None, at_most: float | None) -> str:
    return f"at least {at_least:.2f}" if at_most is None else f"at most {at_most:.2f}"
