"""Runs that are unlike the others are found, told, and left out if that is wanted."""

import numpy as np
import pytest
from frontload.profile import format as profile
from frontload.profile import odd_runs
from frontload.profile.touched import Sum, TouchedNumbers

NAMES = ["main", "f1", "f2", "f3", "f4", "f5", "helper", "last"]


@pytest.fixture
def traces(link, tmp_path):
    """traces(odd): a folder of forty traces, of which so many ended early."""
    program = link()

    def traces(odd: int):
        folder = tmp_path / f"odd{odd}"
        folder.mkdir()
        for number in range(40):
            names = ["main"] if number < odd else NAMES[:7 + number % 2]
            program.trace(folder / f"app.{number}.fltrace", *names)
        return folder

    return traces


def test_runs_that_ended_early_are_told_and_may_be_left_out(traces, cli, tmp_path):
    """The profile is then that of the others."""
    folder = traces(2)
    result = cli("profile", folder, "-o", tmp_path / "all")
    assert ("app: 2 of 40 runs touched less than half of what most runs touch: app.0.fltrace, "
            "app.1.fltrace\n") in result.err
    assert "--without-odd-runs" in result.err
    result = cli("profile", folder, "-o", tmp_path / "p", "--without-odd-runs")
    assert "left them out" in result.err
    for number in range(2):
        (folder / f"app.{number}.fltrace").unlink()
    assert "less than half" not in cli("profile", folder, "-o", tmp_path / "q").err
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()
    assert (tmp_path / "p").read_bytes() != (tmp_path / "all").read_bytes()


def test_many_odd_runs_are_a_way_to_start(traces, cli, tmp_path):
    """A profile has to know it, so nothing is left out; nor if all runs are different."""
    result = cli("profile", traces(3), "--without-odd-runs", "-o", tmp_path / "p")
    assert "less than half" not in result.err and profile.read(tmp_path / "p").runs == 40
    assert find([np.arange(number * 100, number * 100 + 50) for number in range(40)]) == []


def test_names_of_few_runs_may_be_left_out(traces, link, cli, tmp_path):
    """--min-share is a share of the runs; a profile without names is not written."""
    result = cli("profile", traces(1), "--min-share", 60, "-o", tmp_path / "p")
    assert "app: 1 name of fewer than 60% of the runs left out" in result.err
    assert {name.name.decode() for name in profile.read(tmp_path / "p").touches} == set(NAMES[:7])
    cli("profile", tmp_path / "p", "--min-share", 100, "-o", tmp_path / "q")
    assert [name.name for name in profile.read(tmp_path / "q").touches] == [b"main"]
    apart = [link().trace(tmp_path / name, name) for name in ("f1", "f2")]
    result = cli("profile", *apart, "--min-share", 60, "-o", tmp_path / "r", code=65)
    assert "no name is left" in result.err and not (tmp_path / "r").exists()


def find(runs: list[np.ndarray]) -> list[str]:
    whole = Sum()
    for run in runs:
        whole.add(TouchedNumbers(run))
    return [each.path for each in odd_runs.find(
        [odd_runs.sample(str(number), 1, run) for number, run in enumerate(runs)], whole)]


@pytest.mark.parametrize("share, is_odd", [(0.0, True), (0.3, True), (0.7, False), (1.0, False)])
def test_a_sample_tells_how_much_of_the_common_names_a_run_has(share, is_odd):
    """Of large runs, in which names that lie together are touched together."""
    chance = np.random.default_rng(2)
    usual = chance.permutation(50_000)[:9000]
    runs = [np.sort(chance.choice(usual, 8000, replace=False)) for _ in range(30)]
    begin = int(share * len(usual))
    runs.append(np.concatenate([np.sort(usual)[:begin], 60_000 + np.arange(9000 - begin)]))
    assert find(runs) == (["30"] if is_odd else [])
