"""Cover agrees with sets of byte numbers."""

import numpy as np
from frontload.base.intervals import Cover
from hypothesis import given
from hypothesis import strategies as st

ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), max_size=12)


@given(ranges, st.lists(st.integers(-5, 60), max_size=8))
def test_cover_counts_each_byte_once(given_ranges, positions):
    """Size, and the bytes before any position, are those of the union of the ranges."""
    covered = {byte for start, size in given_ranges for byte in range(start, start + size)}
    start = np.array([start for start, _ in given_ranges], np.int64)
    cover = Cover(start, start + np.array([size for _, size in given_ranges], np.int64))
    assert cover.size == len(covered)
    assert cover.before(np.array(positions, np.int64)).tolist() == [
        sum(byte < position for byte in covered) for position in positions]
    assert (cover.start[1:] >= cover.end[:-1]).all()
