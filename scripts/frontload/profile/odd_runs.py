"""Finds runs that are unlike the others: those that ended early, or did something else.

A run is odd if it touches less than half of the *common* names, which at least half of the runs
touch, and if there are no more than a twentieth of such runs: more of them are a way to start that
the profile needs.

The common names are known when all runs have been read. So a sample of each run is kept: the 128
names with the smallest hashes. Of the common names, those with hashes as small show how many of
them the run touches (a bottom-k sketch: Cohen and Kaplan, "Summarizing data using bottom-k
sketches", PODC 2007), with a standard error of at most 5 percent of all names.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from frontload.profile.touched import Sum

_SIZE = 128  # of a sample
_COMMON, _TOUCHED, _ODD = 0.5, 0.5, 0.05  # of the runs; of the common names; of the runs


@dataclass(frozen=True, slots=True)
class Sample:
    """A run's path, its weight, and the smallest hashes of its names; any others are larger."""

    path: str
    weight: int
    hashes: np.ndarray
    is_whole: bool


def sample(path: str, weight: int, numbers: np.ndarray) -> Sample:
    hashes = _hash(numbers)
    if len(hashes) <= _SIZE:
        return Sample(path, weight, np.sort(hashes), True)
    return Sample(path, weight, np.sort(np.partition(hashes, _SIZE)[:_SIZE]), False)


def find(samples: Iterable[Sample], whole: Sum) -> list[Sample]:
    """The odd ones among runs of one linked file; `whole` is their sum."""
    samples = list(samples)
    all_runs = sum(each.weight for each in samples)
    numbers, runs = whole.runs()
    common = np.sort(_hash(numbers[runs >= _COMMON * all_runs]))
    odd = [each for each in samples if _touched(each, common) < _TOUCHED]
    return odd if sum(each.weight for each in odd) <= _ODD * all_runs else []


def _touched(run: Sample, common: np.ndarray) -> float:
    """The share of the common names that a run touches."""
    if not run.is_whole:
        common = common[:np.searchsorted(common, run.hashes[-1], "right")]
    return np.count_nonzero(np.isin(common, run.hashes)) / len(common) if len(common) else 1


def _hash(numbers: np.ndarray) -> np.ndarray:
    """Hashes that lie apart for neighbouring names, which runs touch together."""
    mixed = numbers.astype(np.uint32) * np.uint32(0x9e3779b1)  # Knuth's multiplicative hash
    return (mixed ^ mixed >> np.uint32(15)) * np.uint32(0x85ebca77)
