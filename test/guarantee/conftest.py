"""What the tests of the guarantee share: many programs are judged, some at a time."""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

_SHOWN = 12


@pytest.fixture(scope="module")
def check() -> Iterator:
    """check(judge, cases): what `judge` finds of each case is nothing."""
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:

        def check(judge: Callable[..., list[str]], cases: Iterable) -> None:
            problems = list(itertools.chain.from_iterable(pool.map(judge, cases)))
            rest = len(problems) - _SHOWN
            assert not problems, "\n".join([*problems[:_SHOWN],
                                            f"and {rest} more" if rest > 0 else ""])

        yield check
