"""bench/early: what it starts, and what it says of a run that is slower."""

import json
import sys
from pathlib import Path

import pytest
from frontload.base.errors import EXIT_OK, EXIT_USAGE, EXIT_VERDICT

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from coldbench import early  # noqa: E402
from coldbench.variants.work_folder import WorkFolder  # noqa: E402


@pytest.fixture
def bench(tmp_path, build, monkeypatch):
    """bench(low): the bench with starts of which each has this lower end of its ratio."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", "")  # to be put back afterwards
    monkeypatch.setattr(WorkFolder, "build", lambda self, targets: None)
    monkeypatch.setattr(early, "work_folder", lambda described, source, *_: WorkFolder(
        described, source, tmp_path / described.name, build / "bin", Path("/llvm")))
    monkeypatch.setattr(early.kinds, "KINDS", ("hdd", "ssd"))

    def bench(low: float, *arguments: str) -> int:
        figures = {"major_faults": {"median": 3}, "read_bytes": {"median": 2e6}}
        monkeypatch.setattr(early, "measure", lambda work, arguments, device, rounds: {
            "device": device, "figures": {"default": figures, "front": figures},
            "time_ratio": {"estimate": low + 0.1, "low": low, "high": low + 0.2}})
        return early.main([*arguments, "--json", str(tmp_path / "result")])

    return bench


def test_both_runs_start_on_each_device(bench, tmp_path, capsys):
    assert bench(0.5, "git") == EXIT_OK
    assert capsys.readouterr().out.count("git ") >= 4
    document = json.loads((tmp_path / "result").read_text())
    assert document["schema"] == "frontload-early/1"
    starts = [(start["run"], start["device"]) for start in document["starts"]]
    assert starts == [("early", "hdd"), ("early", "ssd"), ("usual", "hdd"), ("usual", "ssd")]
    assert document["starts"][0]["arguments"] == ["--version"]


@pytest.mark.parametrize("low, status", [(1.04, EXIT_OK), (1.06, EXIT_VERDICT)])
def test_a_run_that_is_slower_for_certain_fails(bench, capsys, low, status):
    assert bench(low, "cc1") == status
    assert ("is slower with a front on hdd" in capsys.readouterr().err) == (status != EXIT_OK)


def test_a_workload_without_such_a_run_is_refused(bench, capsys):
    assert bench(0.5, "wasm-tools") == EXIT_USAGE
    assert "has no run that leaves at once" in capsys.readouterr().err
