"""The statistics of frontload measure, on numbers whose answers are known."""

import numpy as np
import pytest
from frontload.measure import statistics
from scipy import stats


@pytest.mark.parametrize("values, estimate, reach", [
    # From a single run nothing follows about the next one; counts may repeat exactly.
    ([7], 7, None), ([4, 4, 4], 4, 0),
    # Of few values Student's: 2.776 (t with 4 degrees of freedom) standard errors. The bootstrap
    # would make too little of them.
    ([1, 2, 3, 4, 5], 3, 1.963)])
def test_the_interval_of_few_values(values, estimate, reach):
    found = statistics.interval(values)
    bounds = (None, None) if reach is None else (estimate - reach, estimate + reach)
    assert found.estimate == estimate
    assert (found.low, found.high) == (bounds if reach is None else pytest.approx(bounds, abs=1e-3))


def test_the_interval_of_a_cost_of_few_values_is_welchs():
    """Its bounds are the differences that Welch's test rejects with just so much confidence."""
    cold, warm = np.array([9.0, 11, 10.5, 14]), np.array([3.0, 3.1, 2.9])
    found = statistics.interval(cold, warm)
    for bound in (found.low, found.high):
        test = stats.ttest_ind(cold - bound, warm, equal_var=False)
        assert test.pvalue == pytest.approx(1 - statistics.CONFIDENCE)


def test_the_interval_of_many_values_is_the_bootstraps():
    """Of skewed values it reaches further up than down, and is the same each time."""
    values = [1.0] * 15 + [1.5, 2, 3, 5, 9]
    found = statistics.interval(values)
    assert found == statistics.interval(values)
    assert found.estimate == pytest.approx(1.775)
    assert found.high - found.estimate > 1.5 * (found.estimate - found.low)
    assert found.low > 1


@pytest.mark.parametrize("count", [10, 20, 50])
def test_the_bootstrap_agrees_with_theory(count):
    """Of normal values it reaches as far as Student's t, within the resampling's noise."""
    values = stats.norm.ppf((np.arange(count) + 0.5) / count)
    found = statistics.interval(values)
    reach = stats.t.ppf(0.975, count - 1) * stats.sem(values)
    assert (found.low, found.high) == pytest.approx((-reach, reach), rel=0.06)


@pytest.mark.parametrize("runs", [4, 20])
def test_differences_are_made_within_rounds(runs):
    """What both variants meet in a round cancels out, and what is as slow when warm."""
    drift = np.arange(runs) * 100.0
    found = statistics.difference(drift + 7, drift)
    assert (found.estimate, found.low, found.high) == (7, 7, 7)
    noise = np.sin(np.arange(runs))
    cold1, warm1, cold2, warm2 = 100 + noise, 10 - noise, 143 + noise[::-1], 13 + noise
    found = statistics.excess(cold2, warm2, cold1, warm1)
    assert found.estimate == pytest.approx((cold2 - cold1).mean() - (warm2 - warm1).mean())
    assert found.low < 40 < found.high and found.high - found.low < 5
    assert statistics.interval(cold1, warm1).estimate == pytest.approx(90, abs=1)


def test_ratios_are_paired_and_averaged_geometrically():
    """A slower machine blurs no ratio; twice as fast and twice as slow is as fast."""
    found = statistics.ratio([1.1, 11, 110], [1, 10, 100])
    assert (found.estimate, found.low, found.high) == pytest.approx((1.1, 1.1, 1.1))
    found = statistics.ratio([2, 1], [1, 2])
    assert found.estimate == pytest.approx(1)
    assert found.low < 1 < found.high
    assert found.low * found.high == pytest.approx(1)


@pytest.mark.parametrize("values, outliers", [
    ([10, 11, 10.5, 30, 10.2, 10.8], [3]), ([10, 11, 10.5, 13, 10.2, 10.8], []),
    ([10, 10, 10, 11], []), ([100, 100.1, 100.2, 100.1, 105], [])])
def test_an_outlier_is_found_and_a_tail_is_not(values, outliers):
    """What lies far out is named by its position; ordinary scatter is not."""
    assert statistics.outliers(values) == outliers


@pytest.mark.parametrize("counts, spread", [([98, 100, 103], 0.05), ([0, 0], 0), ([0, 0, 1], 1)])
def test_spread_is_relative_to_the_median(counts, spread):
    assert statistics.spread(counts) == pytest.approx(spread)
