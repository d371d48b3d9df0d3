"""A run that leaves at once, as with --version, does not pay for what the other runs need: no
trained run starts more slowly with a front that is prefetched than without one, on any device."""

from judged import judge_seconds
from places import WHOLE_MATRIX

PROGRAMS = 300 if WHOLE_MATRIX else 40


def test_no_trained_run_starts_more_slowly(check):
    """Up to five runs, of which one does hardly anything and each may be more common than the
    others."""
    check(judge_seconds, range(40_000, 40_000 + PROGRAMS), unforeseen=0.04, worst=1.4)
