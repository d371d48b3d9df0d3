"""The statistics of frontload measure, all of them scipy's.

Times are skewed and drift with the machine, so two programs are compared within each round, where
both met the same machine, and never by two averages alone:

interval    the mean.
ratio       the geometric mean of the per-round ratios. (On logarithms a ratio and its inverse weigh
            the same.)
difference  the mean of the per-round differences.
cost        what being cold costs: the mean of the cold runs less that of the warm ones.
excess      how much more being cold costs one program than another, (cold - warm) of the one less
            (cold - warm) of the other. Cold and warm rounds are made one after the other, so this
            is the mean of the per-round differences when cold less that when warm.

Each comes with its 95% confidence interval by the bootstrap, bias-corrected and accelerated (BCa;
Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 14), which needs no normal
distribution and follows the skew. The resamples come from a fixed seed. A plain bootstrap makes too
narrow an interval of n values: it takes their spread for that of their distribution, and ignores
how uncertain that is. So it is asked for more confidence: Student's t takes the place of the normal
1.96, times sqrt(n / (n - 1)) for the spread (the "expanded" bootstrap of T. Hesterberg, What
Teachers Should Know About the Bootstrap, 2015, section 5.3). For 10 normal values it then holds the
mean 94 times of 100 (plain 90), for an excess of skewed times 92 (88). For fewer than 10 values it
is Student's t, for costs Welch's.

outlier     a value further from the median than ten times the median absolute deviation (scaled to
            be a standard deviation) and than a tenth of the median. Lower limits would report some
            in every other handful of runs, because a few values lie close together by chance.
            Outliers are reported and kept.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from frontload.base.arrays import np

CONFIDENCE = 0.95
RESAMPLES = 9999
SEED = 1
MIN_VALUES = 10  # values for the bootstrap
OUTLIER_DEVIATIONS = 10
OUTLIER_SHARE = 0.1


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% confidence interval; without one (None) if there is one value."""

    estimate: float
    low: float | None
    high: float | None


def ratio(values: Sequence[float], base: Sequence[float]) -> Interval:
    """How `values` compare with `base`, round by round (so both are in the order of rounds)."""
    logarithms = interval(np.log(np.asarray(values, float) / np.asarray(base, float)))
    low, high = (None if bound is None else float(np.exp(bound))
                 for bound in (logarithms.low, logarithms.high))
    return Interval(float(np.exp(logarithms.estimate)), low, high)


def difference(values: Sequence[float], base: Sequence[float]) -> Interval:
    """`values` less `base`, round by round."""
    return interval(np.asarray(values, float) - np.asarray(base, float))


def excess(cold: Sequence[float], warm: Sequence[float], base_cold: Sequence[float],
           base_warm: Sequence[float]) -> Interval:
    return interval(np.asarray(cold, float) - np.asarray(base_cold, float),
                    np.asarray(warm, float) - np.asarray(base_warm, float))


def _mean(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
    """The mean of a sample, less that of a second one if there is one."""
    first, *second = (np.mean(sample, axis=axis) for sample in samples)
    return first - sum(second)


def interval(*values: Sequence[float]) -> Interval:
    """The mean of one sample, or the cost that two have: cold and warm."""
    samples = [np.asarray(sample, float) for sample in values]
    estimate = float(_mean(*samples))
    if min(map(len, samples)) < 2:
        return Interval(estimate, None, None)
    if all(np.ptp(sample) == 0 for sample in samples):
        return Interval(estimate, estimate, estimate)
    with warnings.catch_warnings():
        # scipy warns where values hardly differ; the interval is still right.
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = (_student(samples) if min(map(len, samples)) < MIN_VALUES
                     else _resampled(samples))
    return Interval(estimate, float(low), float(high))


def _student(samples: list[np.ndarray]) -> tuple[float, float]:
    """Student's interval of one sample's mean, Welch's of the difference of two. scipy has it
    (ttest_ind(...).confidence_interval) from 1.11 on, and Debian 12 has 1.10."""
    errors = [stats.sem(sample) ** 2 for sample in samples]
    freedom = sum(errors) ** 2 / sum(error ** 2 / (len(sample) - 1)
                                     for error, sample in zip(errors, samples, strict=True))
    return stats.t.interval(CONFIDENCE, freedom, loc=_mean(*samples), scale=sum(errors) ** 0.5)


def _resampled(samples: list[np.ndarray]) -> tuple[float, float]:
    confidence = _expanded(min(map(len, samples)))
    for method in ("BCa", "percentile"):  # where values hardly differ, BCa may find no answer
        found = stats.bootstrap(samples, _mean, confidence_level=confidence, method=method,
                                n_resamples=RESAMPLES, vectorized=True,
                                random_state=np.random.default_rng(SEED)).confidence_interval
        if np.isfinite(found).all():
            break
    return found


def _expanded(count: int) -> float:
    """The confidence to ask a bootstrap of `count` values for, so that it has ours."""
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * (count / (count - 1)) ** 0.5
    return float(1 - 2 * stats.norm.sf(reach))


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
