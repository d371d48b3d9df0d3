"""A program does the same with any front: with random halves of its functions, data, sections and
strings in it, in random order, linked in all ways, with random options.

A failure tells the link and its profile. `FRONTLOAD_MATRIX=whole` tries all ways, many times.
"""

import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

import pytest
from fronts import problem_of
from places import WHOLE_MATRIX
from startable import MATRIX, SOURCES, WAYS, Startable, make, make_of_matrix, ways_of

FRONTS = 25 if WHOLE_MATRIX else 2  # of each program in each way
_USUAL = ("pie", "no-pie", "shared", "static", "static-pie")


def _try_fronts(key: str, make_it: Callable[[Path], Startable], folder: Path) -> list[str]:
    """What is wrong with random fronts of a program; what is not is not kept."""
    plain = folder / "plain"
    plain.mkdir()
    made, problems = make_it(plain), []
    for number in range(FRONTS):
        inside = folder / str(number)
        inside.mkdir()
        if problem := problem_of(made, number, key, inside):
            problems.append(problem)
        else:
            shutil.rmtree(inside)
    return problems


def _of_way(name: str, folder: Path, way: str) -> list[str]:
    return _try_fronts(f"{name}, {way}", functools.partial(make, SOURCES[name], WAYS[way]),
                       Path(tempfile.mkdtemp(dir=folder)))


def _ways(name: str) -> list[str]:
    """The usual ways and another one, or all."""
    ways = ways_of(SOURCES[name])
    others = [way for way in ways if way not in _USUAL]
    if not WHOLE_MATRIX and "tls" not in name:
        others = Random(name).sample(others, 1)
    return [way for way in ways if way in _USUAL or way in others]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_does_the_same(name, pool, tmp_path):
    found = pool.map(functools.partial(_of_way, name, tmp_path), _ways(name))
    problems = [problem for each in found for problem in each]
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("name", MATRIX)
def test_a_large_program_does_the_same(name, tmp_path):
    if "tally" in name and (not shutil.which("rustc") or subprocess.run(
            ["rustc", "--version"], capture_output=True).returncode):
        pytest.skip("there is no rustc that runs (Debian's package rustc has one)")
    problems = _try_fronts(name, functools.partial(make_of_matrix, name), tmp_path)
    assert not problems, "\n\n".join(problems)
