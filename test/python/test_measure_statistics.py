"""The statistics of frontload measure, on numbers whose answers are known."""

import numpy as np
import pytest
from frontload.measure import statistics
from scipy import stats


def test_the_interval_of_few_values_is_students():
    """The bootstrap would make too little of them. That of 1..5 is 3 ± 2.776 (t with 4 degrees of
    freedom) standard errors."""
    found = statistics.interval([1, 2, 3, 4, 5])
    assert found.estimate == 3
    assert (found.low, found.high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=1e-3)


def test_the_interval_of_a_cost_of_few_values_is_welchs():
    """Its bounds are the differences that Welch's test rejects with just so much confidence."""
    cold, warm = np.array([9.0, 11, 10.5, 14]), np.array([3.0, 3.1, 2.9])
    found = statistics.cost(cold, warm)
    for bound in (found.low, found.high):
        test = stats.ttest_ind(cold - bound, warm, equal_var=False)
        assert test.pvalue == pytest.approx(1 - statistics.CONFIDENCE)


def test_the_interval_of_many_values_is_the_bootstraps():
    """It needs no normal distribution: of skewed values it reaches further up than down, and it is
    the same each time."""
    values = [1.0] * 15 + [1.5, 2, 3, 5, 9]
    found = statistics.interval(values)
    assert found == statistics.interval(values)
    assert found.estimate == pytest.approx(1.775)
    assert found.high - found.estimate > 1.5 * (found.estimate - found.low)
    assert found.low > 1


def test_the_bootstrap_agrees_with_theory():
    """Of normal values it is the mean with 1.96 standard errors, within the resampling's noise."""
    values = stats.norm.ppf((np.arange(50) + 0.5) / 50)
    found = statistics.interval(values)
    reach = 1.96 * values.std() / 50 ** 0.5
    assert (found.low, found.high) == pytest.approx((-reach, reach), rel=0.05)


@pytest.mark.parametrize("count", [10, 20])
def test_the_bootstrap_of_not_so_many_values_is_not_too_narrow(count):
    """Of 10 normal values the plain one reaches 18% less far than Student's t, and what it calls
    95% is 90%."""
    values = stats.norm.ppf((np.arange(count) + 0.5) / count)
    found = statistics.interval(values)
    reach = stats.t.ppf(0.975, count - 1) * stats.sem(values)
    assert (found.low, found.high) == pytest.approx((-reach, reach), rel=0.06)


@pytest.mark.parametrize("runs", [4, 20])
def test_a_drift_of_the_machine_is_no_difference(runs):
    """Differences are made within rounds: what both variants meet in a round cancels out."""
    drift = np.arange(runs) * 100.0
    found = statistics.difference(drift + 7, drift)
    assert (found.estimate, found.low, found.high) == (7, 7, 7)


@pytest.mark.parametrize("runs", [4, 20])
def test_what_cold_costs_more_is_the_difference_of_differences(runs):
    """(cold2 - warm2) - (cold1 - warm1): that the second is 3 slower, warm as cold, is no cost."""
    noise = np.sin(np.arange(runs))
    cold1, warm1, cold2, warm2 = 100 + noise, 10 - noise, 143 + noise[::-1], 13 + noise
    found = statistics.excess(cold2, warm2, cold1, warm1)
    assert found.estimate == pytest.approx((cold2 - cold1).mean() - (warm2 - warm1).mean())
    assert found.low < 40 < found.high and found.high - found.low < 5
    assert statistics.cost(cold1, warm1).estimate == pytest.approx(90, abs=1)


def test_one_value_has_no_interval():
    """From a single run nothing follows about the next one."""
    assert statistics.interval([7]) == statistics.Interval(7, None, None)


def test_equal_values_have_an_interval_of_no_width():
    """Counts that repeat exactly are no problem for the formulas."""
    assert statistics.interval([4, 4, 4]) == statistics.Interval(4, 4, 4)


def test_ratios_are_paired():
    """A machine that gets 100 times slower does not blur a ratio that is the same in each round."""
    found = statistics.ratio([1.1, 11, 110], [1, 10, 100])
    assert (found.estimate, found.low, found.high) == pytest.approx((1.1, 1.1, 1.1))


def test_ratios_are_averaged_geometrically():
    """Twice as fast in one round and twice as slow in the other is as fast."""
    found = statistics.ratio([2, 1], [1, 2])
    assert found.estimate == pytest.approx(1)
    assert found.low < 1 < found.high
    assert found.low * found.high == pytest.approx(1)


def test_an_outlier_is_found_and_a_tail_is_not():
    """What lies far out is named by its position; ordinary scatter is not."""
    assert statistics.outliers([10, 11, 10.5, 30, 10.2, 10.8]) == [3]
    assert statistics.outliers([10, 11, 10.5, 13, 10.2, 10.8]) == []
    assert statistics.outliers([10, 10, 10, 11]) == []
    assert statistics.outliers([100, 100.1, 100.2, 100.1, 105]) == []


def test_spread_is_relative_to_the_median():
    """Counts of 98, 100 and 103 vary by 5%; of nothing but zeros by nothing."""
    assert statistics.spread([98, 100, 103]) == pytest.approx(0.05)
    assert statistics.spread([0, 0]) == 0
    assert statistics.spread([0, 0, 1]) == 1
