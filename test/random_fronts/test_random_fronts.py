"""A program does the same with any front: with random halves of its functions, data, sections and
strings in it, in random order, linked in all ways, with random options.

A failure tells the link and its profile. `scripts/test --all` tries each program in all ways, many
times; else each is tried in a usual way and another one, and each way with some program.
"""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from abilities import needs
from fronts import problem_of
from places import ALL
from startable import OF_TLS, SOURCES, WAYS, Startable, make, make_rust, ways_of

pytestmark = pytest.mark.spread
FRONTS = 25 if ALL else 1  # of each program in each way
_USUAL = ("pie", "no-pie", "shared", "static", "static-pie")


def _ways(name: str) -> list[str]:
    ways, number = ways_of(SOURCES[name]), list(SOURCES).index(name)
    if ALL:
        return ways
    usual, others = ([way for way in ways if (way in _USUAL) is is_usual]
                     for is_usual in (True, False))
    of_tls = [way for way in ways if way in OF_TLS]
    return [usual[number % len(usual)], *(of_tls or [others[number % len(others)]])]


def _problems(key: str, make_it: Callable[[Path], Startable], folder: Path) -> list[str]:
    """What is wrong with random fronts of a program; what is not is not kept."""
    plain = folder / "plain"
    plain.mkdir(parents=True)
    made, problems = make_it(plain), []
    for number in range(FRONTS):
        inside = folder / str(number)
        inside.mkdir()
        if problem := problem_of(made, number, key, inside):
            problems.append(problem)
        else:
            shutil.rmtree(inside)
    return problems


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_does_the_same(name, tmp_path):
    problems = [problem for way in _ways(name) for problem in _problems(
        f"{name}, {way}", partial(make, SOURCES[name], WAYS[way]), tmp_path / way)]
    assert not problems, "\n\n".join(problems)


@needs("rustc")
def test_a_program_in_rust_does_the_same(tmp_path):
    problems = _problems("tally", make_rust, tmp_path / "tally")
    assert not problems, "\n\n".join(problems)
