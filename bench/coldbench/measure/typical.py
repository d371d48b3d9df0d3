"""By how much pairs of times typically differ, if a few of them are far off.

A neighbour on the same machine makes one run of ten 20% longer and more, and a mean of ratios then
needs ten times as many pairs. The estimate of Hodges and Lehmann (Annals of Mathematical Statistics
34, 1963) ignores how far off those are: the median of the averages of any two ratios (each also
with itself), on logarithms. Its interval is between those averages that Wilcoxon's test of signed
ranks does not reject, by the normal approximation (Hollander and Wolfe, Nonparametric Statistical
Methods, section 3.3), which is right from some 20 pairs on.
"""

from collections.abc import Sequence

import numpy as np
from frontload.measure.statistics import CONFIDENCE, Interval
from scipy import stats


def ratio(values: Sequence[float], base: Sequence[float]) -> Interval:
    """How `values` typically compare with `base`, pair by pair, with the 95% interval."""
    logarithms = np.log(np.asarray(values, float) / np.asarray(base, float))
    count = len(logarithms)
    first, second = np.triu_indices(count)
    averages = np.sort((logarithms[first] + logarithms[second]) / 2)
    spread = (count * (count + 1) * (2 * count + 1) / 24) ** 0.5
    rejected = int(len(averages) / 2 - stats.norm.ppf((1 + CONFIDENCE) / 2) * spread) - 1
    rejected = max(rejected, 0)
    return Interval(*(float(np.exp(each)) for each in (
        np.median(averages), averages[rejected], averages[-1 - rejected])))
