"""The guarantee: no start that was trained reads more of a file with a front than of the same file
without, whatever the program, as far as the training tells. Random programs, as predicted: some
here, 500 with `scripts/test --all`.
"""

from itertools import cycle

import pytest
from generated import TASTES
from judged import Case, check, judge, judge_seconds
from places import ALL
from training import LOSSES

pytestmark = pytest.mark.spread
# None of the few programs here is one of the unforeseen (below).
EACH, SOME = (50, 50) if ALL else (3, 3)
# What a profile cannot tell, a link cannot weigh: where in a large function or table the touches
# were. So a few programs read a little more.
_UNFORESEEN = {"unforeseen": 0.04, "worst": 1.2}
# Nor which data a function uses, if only functions were recorded.
_GUESSED_DATA = {"unforeseen": 0.1, "worst": 1.21}
# And those whose training is of another build.
_OTHER_BUILD = {"unforeseen": 0.06, "worst": 1.7}


@pytest.mark.parametrize("taste", TASTES)
def test_what_was_trained_reads_no_more(taste):
    """Functions, tables, blobs that nobody named, sections and flags of all kinds."""
    check(judge, [Case(taste, seed) for seed in range(EACH)], **_UNFORESEEN)


def test_large_programs():
    """Where a tier has so many names that groups of them are ordered."""
    check(judge, [Case("large", seed) for seed in range(10 if ALL else 1)], **_UNFORESEEN)


def _cases(first_seed: int, **training) -> list[Case]:
    tastes = cycle(TASTES)
    return [Case(next(tastes), seed, **training) for seed in range(first_seed, first_seed + SOME)]


def test_training_of_functions_alone():
    """What data they use is guessed."""
    check(judge, _cases(10_000, has_data=False), **_GUESSED_DATA)


def test_training_of_an_older_build():
    """Parts have other names and sizes since, and some are new."""
    check(judge, _cases(20_000, is_older=True), **_OTHER_BUILD)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "exact"])
def test_training_that_fits_badly(loss):
    """Some of the names, or half, or nearly all, or all are of no part of this program."""
    check(judge, _cases(30_000, loss=loss), **_OTHER_BUILD)


def test_no_trained_run_starts_more_slowly():
    """A run that leaves at once, as with --version, does not pay for what up to four other runs
    need, which may be more common, with a front that is prefetched, on any device."""
    seeds = range(40_000, 40_000 + (300 if ALL else 20))
    check(judge_seconds, seeds, unforeseen=0.04, worst=1.4)
