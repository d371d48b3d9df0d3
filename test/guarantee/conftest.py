"""What the tests of the guarantee share: many programs are judged, some at a time."""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from reading import Excess

_SHOWN = 12


@pytest.fixture(scope="module")
def check() -> Iterator:
    """check(judge, cases): `judge` finds nothing, or only in a share `unforeseen` of the cases, and
    nothing that is more than `worst` times as much."""
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:

        def check(judge: Callable[..., list[Excess]], cases: Iterable, unforeseen: float = 0,
                  worst: float = 1) -> None:
            found = list(pool.map(judge, cases))
            problems = list(itertools.chain.from_iterable(found))
            rest = len(problems) - _SHOWN
            told = "\n".join([*map(str, problems[:_SHOWN]), f"and {rest} more" if rest > 0 else ""])
            assert sum(map(bool, found)) <= unforeseen * len(found), told
            assert all(problem.ratio <= worst for problem in problems), told

        yield check
