"""Sets of bytes of a file agree with sets of byte numbers."""

import numpy as np
import pytest
from frontload.base.spans import Spans
from hypothesis import given
from hypothesis import strategies as st

ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), max_size=10)


def spans(given_ranges) -> Spans:
    start = np.array([start for start, _ in given_ranges], np.int64)
    return Spans(start, start + np.array([size for _, size in given_ranges], np.int64))


def numbers(given_ranges) -> set[int]:
    return {byte for start, size in given_ranges for byte in range(start, start + size)}


def members(of: Spans) -> set[int]:
    assert (of.start < of.end).all() and (of.start[1:] > of.end[:-1]).all()
    return {byte for start, end in zip(of.start.tolist(), of.end.tolist(), strict=True)
            for byte in range(start, end)}


@given(ranges, ranges, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5))
def test_operations_are_those_of_sets(one, other, queries):
    """Union, intersection, difference, size, bytes in ranges; the spans lie apart and ascend."""
    found = spans(one)
    assert members(found) == numbers(one) and found.size == len(numbers(one))
    assert members(found | spans(other)) == numbers(one) | numbers(other)
    assert members(found & spans(other)) == numbers(one) & numbers(other)
    assert members(found - spans(other)) == numbers(one) - numbers(other)
    start, end = np.array(queries, np.int64).reshape(-1, 2).T
    assert found.between(start, end).tolist() == [
        sum(first <= byte < last for byte in numbers(one)) for first, last in queries]
    assert found.holds(start).tolist() == [byte in numbers(one) for byte in start.tolist()]


@given(ranges, st.sampled_from([1, 4, 16]))
def test_text_has_every_unit_with_a_byte(one, unit):
    """The text of a set is read back as the units that hold its bytes."""
    found = spans(one)
    units = {byte // unit for byte in numbers(one)}
    again = Spans.from_text(found.to_text(unit), unit, 64)
    assert members(again) == {byte for each in units
                              for byte in range(each * unit, each * unit + unit)}
    assert found.to_text(unit) == spans([(each, 1) for each in units]).to_text(1)
    assert Spans.from_text("0+2", 4096, 5000).size == 5000  # the file ends within the last unit


@pytest.mark.parametrize("text", ["1", "1+0", "-1+2", "2+2 3+1", "1+1  3+1", "0+5", "1+1 2+1",
                                  "99999999999999999999+1", "1+x", " "])
def test_what_is_no_text_of_a_set_is_refused(text):
    with pytest.raises(ValueError):
        Spans.from_text(text, 4096, 4 * 4096)
