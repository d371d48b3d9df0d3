"""The statistics of frontload measure, all of them scipy's.

Times are skewed and drift with the machine, so two programs are compared within each round, where
both met the same machine, and never by dividing two averages:

interval  the mean with its 95% confidence interval by Student's t.
ratio     the geometric mean of the per-round ratios; its interval is Student's t on the logarithms
          of the ratios, taken back by exp. (On logarithms a ratio and its inverse weigh the same.)
outlier   a value further from the median than ten times the median absolute deviation (scaled to be
          a standard deviation) and than a tenth of the median. Lower limits cry out at every other
          handful of runs: few of them lie close together by chance. Outliers are reported and kept.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
OUTLIER_DEVIATIONS = 10
OUTLIER_SHARE = 0.1


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% confidence interval; without one (None) if there is one value."""

    estimate: float
    low: float | None
    high: float | None


def interval(values: Sequence[float]) -> Interval:
    mean = float(np.mean(values))
    if len(values) < 2:
        return Interval(mean, None, None)
    if np.ptp(values) == 0:
        return Interval(mean, mean, mean)
    with warnings.catch_warnings():
        # scipy warns where values hardly differ; the interval is still right.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = stats.ttest_1samp(values, 0).confidence_interval(CONFIDENCE)
    return Interval(mean, float(found.low), float(found.high))


def ratio(values: Sequence[float], base: Sequence[float]) -> Interval:
    """How `values` compare with `base`, round by round (so both are in the order of rounds)."""
    logarithms = interval(np.log(np.asarray(values, float) / np.asarray(base, float)))
    return Interval(*(None if bound is None else float(np.exp(bound))
                      for bound in (logarithms.estimate, logarithms.low, logarithms.high)))


def outliers(values: Sequence[float]) -> list[int]:
    """The positions of the outliers."""
    deviation = stats.median_abs_deviation(values, scale="normal")
    if not deviation > 0:
        return []
    middle = np.median(values)
    limit = max(OUTLIER_DEVIATIONS * deviation, OUTLIER_SHARE * middle)
    return np.flatnonzero(np.abs(np.asarray(values) - middle) > limit).tolist()


def spread(counts: Sequence[float]) -> float:
    """How far counts vary, relative to their median: (max - min) / median."""
    middle = float(np.median(counts))
    return float(np.ptp(counts)) / middle if middle else float(np.ptp(counts) > 0)
