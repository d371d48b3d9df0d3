"""Which names a start touches, told from tests of groups of them: from touched pages.

A page holds many names, and is touched if the start touches one of them. That is *group testing*
(Dorfman, "The detection of defective members of large populations", 1943): names are items, pages
are tests, and builds whose names lie in other orders test other groups. A page that is not touched
clears all names that begin there, which is what COMP decoding goes by; a touched one, of which all
names but one are cleared, convicts that one, which is what DD decoding adds (Aldridge, Johnson and
Scarlett, "Group testing: an information theory perspective", 2019, sections 2.3 and 2.4).

Both know certainties only. Starts differ, kernels map neighbours, and a page may be touched for
something that has no name. So each name has a probability here, by belief propagation between names
and pages (section 3.3 there; Sejdinovic and Johnson, "Note on noisy group testing: asymptotic
bounds and belief propagation reconstruction", 2010). With p(n) for the prior of a name:

    log odds(n)     = log(p(n) / (1 - p(n))) + sum over pages P of n: told(P, n)
    told(P, n)      = s * log(hit / other) + (1 - s) * log((1 - hit) / (1 - other))
    other           = 1 - (1 - STRAY) * product over names m != n on P: (1 - reach(m, P) * x(m, P))
    hit             = 1 - (1 - reach(n, P)) * (1 - other), at most 1 - MISS
    x(m, P)         = what the other pages tell of m, as a probability

s is 1 if so many of a build's samples touch the page as starts of one kind among several would, and
less if fewer do (from_samples.py says how many). The samples of one build are one test, however
many there are: they have the same names on the same pages, so that a second one tells of starts,
not of names. `reach` is 1 for the page where a function begins: its entry is touched
whenever the function is. It is HALF for pages that it goes on to; and if such a page is not
touched, that clears nobody: a function that returns early, or has a cold end, does so in each build
alike, so that many builds would be the same evidence many times.

A few odd samples do no harm: what they add costs s a little, and MISS keeps the loss of a whole
build finite.
"""

from dataclasses import dataclass

import numpy as np

STRAY = 0.02  # how likely a page is touched for something without a name
MISS = 0.02  # how likely a page is not touched though one of its names belongs to starts
HALF = 0.5
PRIOR = 0.05  # how likely a start touches a name that nobody knows anything of
KNOWN = 0.9  # and one that an older profile has
_ROUNDS = 30
_DAMPING = 0.5  # of messages: in loops of names and pages they swing otherwise
_FARTHEST = 30.0  # log odds: what is beyond is as certain


@dataclass(frozen=True)
class Evidence:
    """Edge i says that `name[i]` lies on page `page[i]`, of which so much is touched whenever the
    name is (`reach[i]`). `share` is, of each page, how much of a touched page it is, by the share
    of its build's samples that touched it."""

    name: np.ndarray
    page: np.ndarray
    reach: np.ndarray
    share: np.ndarray


def probabilities(tests: Evidence, prior: np.ndarray) -> np.ndarray:
    """How likely each name is touched; `prior` is how likely it would be without these tests."""
    names, pages = len(prior), len(tests.share)
    own = np.log(prior / (1 - prior))
    share = tests.share[tests.page]
    cleared = np.where(tests.reach == 1, 1 - share, 0)
    told = np.zeros(len(tests.name))
    odds = own
    for _ in range(_ROUNDS):
        away = 1 - tests.reach * _probability(odds[tests.name] - told)
        none = np.bincount(tests.page, np.log(np.maximum(away, 1e-12)), pages)
        nothing = (1 - STRAY) * np.exp(none[tests.page] - np.log(np.maximum(away, 1e-12)))
        other = np.clip(1 - nothing, STRAY, 1 - MISS)
        hit = np.minimum(1 - (1 - tests.reach) * (1 - other), 1 - MISS)
        now = share * np.log(hit / other) + cleared * np.log((1 - hit) / (1 - other))
        told += _DAMPING * (now - told)
        odds = np.clip(own + np.bincount(tests.name, told, names), -_FARTHEST, _FARTHEST)
    return _probability(odds)


def _probability(odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(odds, -_FARTHEST, _FARTHEST)))
