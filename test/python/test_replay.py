"""The replay: what is compared of a prediction and the kernel's counts, and what is judged."""

from types import SimpleNamespace

import pytest
from coldbench.judge import replay
from coldbench.variants.workload import RECORDED

KERNEL = {"major_faults": 100, "read_bytes": 10e6, "read_runs": 3}
PREDICTED = {"major_faults": 104, "minor_faults": 9, "read_bytes": 10e6, "read_runs": 4,
             "requests": 150, "seconds": 1}


@pytest.fixture
def work(tmp_path):
    (tmp_path / "traces.data").mkdir()
    (tmp_path / "traces.data/a.fltrace").touch()
    workload = SimpleNamespace(program="", ready=None, recording=lambda variant: RECORDED)
    return SimpleNamespace(workload=workload, folder=tmp_path,
                           binary=lambda variant: tmp_path / f"app.{variant}",
                           target=lambda variant: f"app.{variant}")


@pytest.fixture
def replayed(work):
    """replayed(*names): the rows of measured variants with the kernel's counts, throttled too."""
    def figures(wall_ns):
        return {name: {"median": value} for name, value in {**KERNEL, "wall_ns": wall_ns}.items()}

    def replayed(*names, own_device=True) -> list[dict]:
        variants = [{"name": name, "cold": figures(1e9), "slow": figures(2e9),
                     "warm": figures(0.3e9), "requests": {"reads": 155.0}} for name in names]
        place = {"read_ahead_kib": 64, "own_device": own_device}
        return list(replay.replay(work, variants, place).values())

    return replayed


@pytest.fixture
def asked(monkeypatch, tools):
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


def test_all_figures_are_compared(replayed, asked):
    """One more or less is no difference, nor a twentieth; requests of a prefetch are only shown."""
    (row,) = replayed("default")
    assert row["difference"]["major_faults"] == pytest.approx(0.04)
    assert row["difference"]["read_bytes"] == 0
    assert row["difference"]["requests"] == pytest.approx(150 / 155 - 1)
    assert row["throttled_seconds"] == pytest.approx(150 / 150 - 0.1 + 0.3)
    assert row["agrees"]
    for figures, agrees in ({"major_faults": 106}, False), ({"requests": 200}, False), (
            {"requests": 200, "prefetch_bytes": 1 << 20}, True):
        asked(**figures)
        (row,) = replayed("default")
        assert row["agrees"] is agrees


def test_it_is_predicted_from_the_default_build_with_the_readahead_of_the_device(
        replayed, asked, tmp_path):
    questions = asked()
    replayed("front", "preread", "front+run")
    program, traces, recorded, options = questions[0]
    assert (program, recorded) == (tmp_path / "app.front", tmp_path / "app.default")
    assert [path.name for path in traces] == ["a.fltrace"]
    assert options == ["--device=hdd", "--kernel=6.18.1-test", "--read-ahead=64"]
    assert [each[3][-1] for each in questions[1:]] == ["--prefetched=all", "--prefetched=front"]


@pytest.mark.parametrize("change, said", [
    (lambda work, asked: asked(missing=30), "another compilation: 3% of the touched"),
    (lambda work, asked: (work.folder / "traces.data/a.fltrace").unlink(),
     "there is no traces.data of app.default"),
    (lambda work, asked: setattr(work.workload, "program", "cc1"), "does not do the work"),
])
def test_what_was_not_recorded_is_not_predicted(work, replayed, asked, change, said):
    change(work, asked)
    (row,) = replayed("default")
    assert "requests" not in row and row["why"].startswith(said)


def test_elsewhere_nothing_is_judged(replayed, asked):
    asked(major_faults=300)
    (row,) = replayed("default", own_device=False)
    assert (row["agrees"], row["why"]) == (None, "was not measured on a device of its own")


def test_the_rules_are_those_of_this_kernel(replayed, asked, monkeypatch):
    questions = asked()
    monkeypatch.setattr(replay.os, "uname", lambda: SimpleNamespace(release="6.1.0-30-amd64"))
    replayed("default")
    assert "--kernel=6.1.0-30-amd64" in questions[-1][-1]
