"""Which names are told from touched pages: programs of functions that are laid out at random."""

import itertools
import math

import numpy as np
import pytest
from frontload.profile import group_testing
from frontload.profile.group_testing import Evidence

NAMES, ON_A_PAGE = 2000, 10


def shuffled(touched: np.ndarray, builds: int, *, wrong: int = 0, seed: int = 1) -> Evidence:
    """What samples of builds tell that have their names in other orders each; of `wrong` builds
    no page was touched, as if their starts had failed at once."""
    random = np.random.default_rng(seed)
    names, pages, shares = [], [], []
    for build in range(builds):
        place = random.permutation(NAMES) // ON_A_PAGE
        share = np.zeros(NAMES // ON_A_PAGE)
        if build >= wrong:
            share[place[touched]] = 1
        names.append(np.arange(NAMES))
        pages.append(place + build * len(share))
        shares.append(share)
    return Evidence(np.concatenate(names), np.concatenate(pages), np.ones(builds * NAMES),
                 np.concatenate(shares))


def told(tests: Evidence, prior=group_testing.PRIOR) -> set[int]:
    likely = group_testing.probabilities(tests, np.full(NAMES, prior))
    return set(np.flatnonzero(likely > 0.5).tolist())


TOUCHED = np.random.default_rng(0).permutation(NAMES)[:100]


def test_enough_builds_tell_exactly():
    """Of one in twenty functions, ten on each page, eight builds tell all, and no others."""
    assert told(shuffled(TOUCHED, 8)) == set(TOUCHED.tolist())


def test_more_builds_tell_more():
    """Each build clears names."""
    doubtful = []
    for builds in (1, 2, 3, 4):
        likely = group_testing.probabilities(shuffled(TOUCHED, builds), np.full(NAMES, 0.05))
        assert (likely[TOUCHED] > 0.05).all()  # no touched name is cleared
        doubtful.append(np.count_nonzero(likely > 0.05))
    assert doubtful == sorted(doubtful, reverse=True) and doubtful[-1] < 200 < doubtful[0]


def test_an_untouched_page_clears_its_names():
    """As by COMP decoding."""
    tests = Evidence(np.array([0, 1]), np.array([0, 1]), np.ones(2), np.array([0.0, 1.0]))
    likely = group_testing.probabilities(tests, np.full(2, 0.5))
    assert likely[0] < 0.05 < 0.95 < likely[1]


def test_the_only_name_that_is_left_is_convicted():
    """As by DD decoding: of two names on a touched page, one was cleared elsewhere."""
    tests = Evidence(np.array([0, 1, 0]), np.array([0, 0, 1]), np.ones(3), np.array([1.0, 0.0]))
    likely = group_testing.probabilities(tests, np.full(2, 0.05))
    assert likely[0] < 0.05 and likely[1] > 0.5


def test_what_is_explained_is_no_evidence():
    """A name that shares its page with one that is known for sure is as likely as before."""
    tests = Evidence(np.array([0, 1]), np.array([0, 0]), np.ones(2), np.array([1.0]))
    likely = group_testing.probabilities(tests, np.array([0.99, 0.05]))
    assert likely[1] == pytest.approx(0.05, abs=0.01)


def test_a_build_whose_starts_failed_clears_nobody():
    """Nine builds that agree outweigh one in which nothing was touched."""
    assert told(shuffled(TOUCHED, 10, wrong=1)) >= set(TOUCHED.tolist())


def test_as_by_enumeration():
    """Where there are no loops, what belief propagation says is what all cases together say."""
    pages, prior = [(0, 1), (1, 2)], 0.3
    weights = {}
    for case in itertools.product((0, 1), repeat=3):
        weight = math.prod(prior if each else 1 - prior for each in case)
        for page in pages:
            weight *= 1 - group_testing.MISS if any(case[name] for name in page) else \
                group_testing.STRAY
        weights[case] = weight
    expected = [sum(weight for case, weight in weights.items() if case[name])
                / sum(weights.values()) for name in range(3)]
    tests = Evidence(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.ones(4), np.ones(2))
    likely = group_testing.probabilities(tests, np.full(3, prior))
    assert likely == pytest.approx(expected, abs=0.01)


def test_the_order_of_tests_does_not_count():
    """Neither does what stands where."""
    tests = shuffled(TOUCHED, 4)
    turned = Evidence(tests.name[::-1], tests.page[::-1], tests.reach[::-1], tests.share)
    assert told(tests) == told(turned)


def test_no_tests_tell_nothing():
    """Then what was likely stays so."""
    none = np.empty(0)
    tests = Evidence(none.astype(int), none.astype(int), none, none)
    assert group_testing.probabilities(tests, np.array([0.3])) == pytest.approx([0.3])
