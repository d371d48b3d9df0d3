"""The guarantee: no start that was trained reads more of a file with a front than of the same file
without, whatever the program. 500 random programs, as predicted."""

import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from generated import TASTES
from judged import Case, judge
from places import WHOLE_MATRIX
from training import LOSSES

EACH = 500 if WHOLE_MATRIX else 50
_SHOWN = 12
_BAD_LOSSES = [loss for loss in LOSSES if loss != "exact"]


@pytest.fixture(scope="module")
def judged() -> Iterator:
    """judged(cases): what is wrong with them, some at a time."""
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        yield lambda cases: list(itertools.chain.from_iterable(pool.map(judge, cases)))


def check(problems: list[str]) -> None:
    rest = len(problems) - _SHOWN
    assert not problems, "\n".join([*problems[:_SHOWN], f"and {rest} more" if rest > 0 else ""])


@pytest.mark.parametrize("taste", TASTES)
def test_what_was_trained_reads_no_more(judged, taste):
    """Functions, tables, blobs that nobody named, sections and flags of all kinds."""
    check(judged([Case(taste, seed) for seed in range(EACH)]))


def _of_all_tastes(first_seed: int) -> Iterator[tuple[str, int]]:
    tastes = itertools.cycle(TASTES)
    return ((next(tastes), seed) for seed in range(first_seed, first_seed + EACH))


def test_training_of_functions_alone(judged):
    """What data they use is guessed."""
    check(judged([Case(*each, has_data=False) for each in _of_all_tastes(10_000)]))


def test_training_of_an_older_build(judged):
    """Parts have other names and sizes since, and some are new."""
    check(judged([Case(*each, is_older=True) for each in _of_all_tastes(20_000)]))


def test_training_that_fits_badly(judged):
    """Half of the names, or all but a few, or nearly all, are of no function of this program."""
    losses = itertools.cycle(_BAD_LOSSES)
    check(judged([Case(*each, loss=next(losses)) for each in _of_all_tastes(30_000)]))
