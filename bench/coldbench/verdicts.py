"""The figures that a workload must show, and whether it did.

A figure is the median over the cold runs on the plain device (see coldbench/figures in the result).
A requirement whose variant was not measured is neither held nor failed: it is not judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from frontload.measure_statistics import Interval

UNITS = {"major_faults": "major faults", "read_bytes": "MB read", "read_runs": "runs read"}

Figures = Mapping[str, Mapping[str, float]]  # variant -> figure -> median


@dataclass(frozen=True)
class Verdict:
    text: str
    holds: bool | None  # None: not judged


def say(figure: str, value: float) -> str:
    return f"{value / 1e6:.1f}" if figure.endswith("_bytes") else f"{value:g}"


@dataclass(frozen=True)
class Near:
    """The yardstick: a machine on which it is off measures something else."""

    variant: str
    figure: str
    about: float
    within: float

    def judge(self, figures: Figures) -> Verdict:
        def holds(value):
            return abs(value / self.about - 1) <= self.within
        return _judge(self, figures, f"about {say(self.figure, self.about)}", holds)


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
        if self.than not in figures:
            return Verdict(f"{self.variant}: fewer {UNITS[self.figure]} than {self.than}", None)
        other = figures[self.than][self.figure]
        return _judge(self, figures, f"fewer than {self.than} ({say(self.figure, other)})",
                      lambda value: value < other)


def _judge(requirement, figures: Figures, wanted: str, holds) -> Verdict:
    variant, figure = requirement.variant, requirement.figure
    if variant not in figures:
        return Verdict(f"{variant}: {UNITS[figure]}: {wanted}", None)
    value = figures[variant][figure]
    return Verdict(f"{variant}: {say(figure, value)} {UNITS[figure]}: {wanted}", holds(value))


def at_most_times(what: str, ratio: Interval, limit: float) -> Verdict:
    """Fails only if also the interval is above the limit: noise alone can lift the estimate."""
    text = f"{what}: {ratio.estimate:.3f} times ld.lld's: at most {limit:.2f}"
    if ratio.estimate <= limit:
        return Verdict(text, True)
    if ratio.low is None:
        return Verdict(f"{text}: one pair is too few to tell", None)
    text += f" (95% interval {ratio.low:.3f} to {ratio.high:.3f})"
    if ratio.low > limit:
        return Verdict(text, False)
    return Verdict(f"{text}: the machine is too noisy to tell", None)
