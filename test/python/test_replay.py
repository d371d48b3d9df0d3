"""The replay: what is compared of a prediction and the kernel's counts, and what is judged."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench.judge import replay
from coldbench.variants.workload import RECORDED

KERNEL = {"major_faults": 100, "read_bytes": 10e6, "read_runs": 3}
PREDICTED = {"major_faults": 104, "minor_faults": 9, "read_bytes": 10e6, "read_runs": 4,
             "requests": 150, "seconds": 1}


@pytest.fixture
def work(tmp_path):
    (tmp_path / "traces.data").mkdir()
    (tmp_path / "traces.data/a.fltrace").touch()
    workload = SimpleNamespace(openers={"opened": ("open",)}, program="",
                               recording=lambda variant: RECORDED)
    return SimpleNamespace(workload=workload,
                           folder=tmp_path, binary=lambda variant: tmp_path / f"app.{variant}",
                           target=lambda variant: f"app.{variant}")


@pytest.fixture
def starts(tools):
    """Measured starts with the kernel's counts, throttled ones, too: as the document has them."""
    def figures(wall_ns):
        return {name: {"median": value} for name, value in {**KERNEL, "wall_ns": wall_ns}.items()}

    names = ("default", "front", "preread", "opened", "front+run")
    variants = {name: {"name": name, "cold": figures(1e9), "slow": figures(2e9),
                       "warm": figures(0.3e9), "requests": None} for name in names}
    variants["default"]["requests"] = {"reads": 155.0}
    return SimpleNamespace(variants=variants, place={"read_ahead_kib": 64, "own_device": True})


def replayed(work, names, starts) -> dict[str, dict]:
    return replay.replay(work, [starts.variants[name] for name in names], starts.place)


@pytest.fixture
def asked(monkeypatch):
    """asked(**figures): frontload-predict answers these; returns what it is asked."""
    questions = []

    def asked(missing=0, prefetch_bytes=0, **figures):
        def ask(*question):
            questions.append(question)
            return {"prefetch_bytes": prefetch_bytes,
                    "predictions": [{"touches": 1000, "missing": missing,
                                     "devices": {"hdd": {**PREDICTED, **figures}}}]}
        monkeypatch.setattr(replay.prediction, "ask", ask)
        return questions

    asked()
    monkeypatch.setattr(replay.os, "uname", lambda: SimpleNamespace(release="6.18.1-test"))
    return asked


def only(found):
    (one,) = found.values() if isinstance(found, dict) else found
    return one


def test_all_figures_are_compared(work, starts, asked):
    """Each has its difference, and a start on the throttled device its time."""
    found = replayed(work, ["default"], starts)
    row = only(found)
    assert row["difference"]["major_faults"] == pytest.approx(0.04)
    assert row["difference"]["read_bytes"] == 0
    assert replay.measured(starts.variants["default"])["requests"] == 155
    assert row["throttled_seconds"] == pytest.approx(150 / 150 - 0.1 + 0.3)
    assert row["agrees"]
    verdict = only(replay.verdicts(found))
    assert verdict.holds
    assert "at most +33.3% (read runs)" in verdict.text


def test_one_more_or_less_is_no_difference_but_more_than_a_twentieth_is(work, starts, asked):
    """Of 3 runs 4 are within one, of 100 faults 106 are not within 5%."""
    asked(major_faults=106)
    found = replayed(work, ["default"], starts)
    assert only(found)["agrees"] is False
    assert only(replay.verdicts(found)).holds is False


def test_requests_of_a_prefetch_are_shown_and_not_judged(work, starts, asked):
    """How many they are depends on which pages of memory lie side by side."""
    asked(requests=200)
    assert only(replayed(work, ["default"], starts))["agrees"] is False
    asked(requests=200, prefetch_bytes=1 << 20)
    row = only(replayed(work, ["default"], starts))
    assert row["difference"]["requests"] > 0.2
    assert row["agrees"]


def test_it_is_predicted_from_the_default_build_with_the_readahead_of_the_device(
        work, starts, asked, tmp_path):
    questions = asked()
    replayed(work, ["front", "preread", "front+run"], starts)
    program, traces, recorded, options = questions[0]
    assert (program, recorded) == (tmp_path / "app.front", tmp_path / "app.default")
    assert [path.name for path in traces] == ["a.fltrace"]
    assert options == ["--device=hdd", "--read-ahead=64"]
    assert questions[1][3][-1] == "--prefetch=all"
    assert questions[2][3][-1] == "--prefetch=front"


@pytest.mark.parametrize("change, said", [
    (lambda work, starts, asked: asked(missing=30), "was compiled differently: 3% of what was"),
    (lambda work, starts, asked: (work.folder / "traces.data/a.fltrace").unlink(),
     "there is no traces.data of app.default"),
    (lambda work, starts, asked: work.workload.openers.update(default=("x",)), "is a library"),
    (lambda work, starts, asked: setattr(work.workload, "program", "cc1"), "does not do the work"),
])
def test_what_was_not_recorded_is_not_predicted(work, starts, asked, change, said):
    change(work, starts, asked)
    found = replayed(work, ["default"], starts)
    assert not replay.is_made(only(found))
    assert only(found)["why"].startswith(said)
    assert replay.verdicts(found) == []


def test_elsewhere_nothing_is_judged(work, starts, asked, monkeypatch):
    """Without a device of its own, or on an older kernel, a difference says nothing."""
    asked(major_faults=300)
    starts.place["own_device"] = False
    row = only(replayed(work, ["default"], starts))
    assert (row["agrees"], row["why"]) == (None, "was not measured on a device of its own")
    starts.place["own_device"] = True
    monkeypatch.setattr(replay.os, "uname", lambda: SimpleNamespace(release="6.1.0-30-amd64"))
    found = replayed(work, ["default"], starts)
    row = only(found)
    assert row["agrees"] is None
    assert only(replay.verdicts(found)).holds is None
    assert "the model is of Linux 6.17, this is 6.1.0-30-amd64" in row["why"]
