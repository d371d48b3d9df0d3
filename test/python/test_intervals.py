"""Cover and Ranges agree with sets of byte numbers, and with looking at each range."""

import numpy as np
from frontload.base.intervals import Cover, Ranges
from hypothesis import example, given
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


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), max_size=12),
       st.lists(st.tuples(st.integers(0, 80), st.integers(1, 20)), max_size=6))
@example([(5, 0)], [(3, 5)])
def test_ranges_find_what_looking_at_each_finds(given_ranges, queries):
    """Groups by their start; the innermost around an address; all that overlap a range."""
    start, size = np.array(given_ranges, np.uint64).reshape(-1, 2).T
    found = Ranges(start, start + size)
    groups: dict[int, list[int]] = {}
    for number, (begin, _) in enumerate(given_ranges):
        groups.setdefault(begin, []).append(number)
    begins = sorted(groups)
    ends = [max(begin + given_ranges[number][1] for number in groups[begin]) for begin in begins]
    assert found.start.tolist() == begins and found.end.tolist() == ends
    assert [found.order[first:first + count].tolist() for first, count in
            zip(*found.sizes(np.arange(len(begins))), strict=True)] == [
                groups[begin] for begin in begins]
    first, last = np.array([(low, low + size) for low, size in queries],
                           np.uint64).reshape(-1, 2).T
    assert found.innermost(first).tolist() == [
        max((i for i, begin in enumerate(begins)
             if begin == low or begin <= low < ends[i]), default=-1) for low in first.tolist()]
    pairs = sorted(zip(*(each.tolist() for each in found.overlapping(first, last)), strict=True))
    assert pairs == [(query, i) for query, (low, high) in
                     enumerate(zip(first.tolist(), last.tolist(), strict=True))
                     for i, begin in enumerate(begins) if begin < high and ends[i] > low]
    assert found.have_bytes_in(first, last).tolist() == [
        any(size and begin < high and begin + size > low for begin, size in given_ranges)
        for low, high in zip(first.tolist(), last.tolist(), strict=True)]


def test_a_large_range_around_many_small_ones_is_found_in_one_step():
    """One symbol may lie around a million, which are not passed one by one."""
    count = 100_000
    start = np.append(0, 16 * np.arange(1, count)).astype(np.uint64)
    found = Ranges(start, np.append(np.uint64(16 * count), start[1:] + np.uint64(4)))
    between = start[1:] + np.uint64(8)
    assert not found.innermost(between).any()
    queries, groups = found.overlapping(between, between + np.uint64(4))
    assert queries.tolist() == list(range(count - 1)) and not groups.any()
    assert not found._around[1:].any()  # each small one leads to the large one
