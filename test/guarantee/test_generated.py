"""The guarantee: no start that was trained reads more of a file with a front than of the same file
without, whatever the program, as far as the training tells. 500 random programs, as predicted.

`FRONTLOAD_MATRIX=whole` takes ten times as many.
"""

import itertools
from collections.abc import Iterator

import pytest
from generated import TASTES
from judged import Case, judge
from places import WHOLE_MATRIX
from training import LOSSES

EACH = 500 if WHOLE_MATRIX else 50
# What a profile cannot tell, a link cannot weigh: where in a large function or table the touches
# were. So a few programs read a little more.
_UNFORESEEN = {"unforeseen": 0.04, "worst": 1.2}
# Nor which data a function uses, if only functions were recorded.
_GUESSED_DATA = {"unforeseen": 0.1, "worst": 1.21}
# And those whose training is of another build.
_OTHER_BUILD = {"unforeseen": 0.06, "worst": 1.7}
_BAD_LOSSES = [loss for loss in LOSSES if loss != "exact"]


@pytest.mark.parametrize("taste", TASTES)
def test_what_was_trained_reads_no_more(check, taste):
    """Functions, tables, blobs that nobody named, sections and flags of all kinds."""
    check(judge, [Case(taste, seed) for seed in range(EACH)], **_UNFORESEEN)


def test_large_programs(check):
    """Where a tier has so many names that groups of them are ordered."""
    check(judge, [Case("large", seed) for seed in range(EACH // 5)], **_UNFORESEEN)


def _of_all_tastes(first_seed: int) -> Iterator[tuple[str, int]]:
    tastes = itertools.cycle(TASTES)
    return ((next(tastes), seed) for seed in range(first_seed, first_seed + EACH))


def test_training_of_functions_alone(check):
    """What data they use is guessed."""
    check(judge, [Case(*each, has_data=False) for each in _of_all_tastes(10_000)], **_GUESSED_DATA)


def test_training_of_an_older_build(check):
    """Parts have other names and sizes since, and some are new."""
    check(judge, [Case(*each, is_older=True) for each in _of_all_tastes(20_000)],
          **_OTHER_BUILD)


def test_training_that_fits_badly(check):
    """Some of the names, or half, or nearly all, or all are of no part of this program."""
    losses = itertools.cycle(_BAD_LOSSES)
    check(judge, [Case(*each, loss=next(losses)) for each in _of_all_tastes(30_000)],
          **_OTHER_BUILD)
