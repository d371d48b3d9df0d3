"""The statistics of frontload measure, on numbers whose answers are known."""

import pytest
from frontload import measure_statistics as statistics


def test_interval_is_students():
    """The interval of 1..5 is 3 ± 2.776 (t with 4 degrees of freedom) standard errors."""
    found = statistics.interval([1, 2, 3, 4, 5])
    assert found.estimate == 3
    assert (found.low, found.high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=1e-3)


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
