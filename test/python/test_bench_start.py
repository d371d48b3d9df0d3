"""bench/start and bench/early: what they start, how often, and what they make of it."""

from pathlib import Path

import pytest
from bench_room import read_json
from coldbench import early, start
from coldbench.variants.work_folder import WorkFolder
from frontload.base.errors import EXIT_OK, EXIT_USAGE, EXIT_VERDICT
from frontload.reading import listing
from frontload.reading.listing import MAP, PAGE, File, ReadingList, Touch

pytestmark = pytest.mark.usefixtures("tools")
FILES = File("/a", 2 * PAGE + 1, 5), File("/b", PAGE, 6)
TOUCHED = ReadingList(1, {FILES[0]: {1: Touch(0, 1, MAP)}, FILES[1]: {0: Touch(1, 1, MAP)}})


def test_each_way_starts_what_it_says(tmp_path):
    """As it is, or by frontload-run with a list of its own."""
    other = ReadingList(1, {FILES[0]: {0: Touch(0, 1, MAP)}})
    ways = start.ways_to_start({start.AS_IT_IS: (["app", "x"], TOUCHED),
                                "fronts": (["front", "x"], other)}, tmp_path, "hdd")
    assert {name: way.usual[0] for name, way in ways.items()} == {
        "as it is": "app", "whole files": "app", "list": "app", "fronts": "front",
        "fronts, list": "front"}
    for name, touched in (("as it is", None), ("whole files", start.whole(TOUCHED)),
                          ("list", TOUCHED), ("fronts", None), ("fronts, list", other)):
        words = ways[name].words
        assert words[-2:] == ways[name].usual
        if touched is None:
            assert len(words) == 2
            continue
        assert words[-3] == "--" and "--device=hdd" in words
        path = next(word.removeprefix("--files=") for word in words if word.startswith("--files="))
        assert listing.to_bytes(listing.read(path)) == listing.to_bytes(touched)


def test_all_figures_are_kept(tmp_path, build, monkeypatch, capsys):
    ways = start.AS_IT_IS, start.WHOLE, start.LIST
    monkeypatch.setattr(start, "measure", lambda started, device, rounds, progress, system: (
        {name: [start.Start(3, 2_000_000, 40, 10 ** 9 // (1 + number))] * rounds
         for number, name in enumerate(ways)},
        {name: {"major_faults": 3, "requests": 4321, "read_bytes": 2_000_000} for name in ways}))
    path = tmp_path / "app.files"
    path.write_bytes(listing.to_bytes(TOUCHED))
    assert start.main([f"--list={path}", f"--json={tmp_path / 'result'}", f"--build-dir={build}",
                       "--runs=2", "--devices=lazy", "--", "app"]) == EXIT_OK
    shown = capsys.readouterr().out
    assert "3.0" in shown and "4321" in shown
    document = read_json(tmp_path / "result", "frontload-start/1")
    assert document["commands"]["as it is"] == {"command": ["app"], "files": 2,
                                                "touched_bytes": 2 * PAGE}
    assert {name: len(starts) for name, starts in document["starts"]["lazy"].items()} == {
        "as it is": 2, "whole files": 2, "list": 2}
    assert document["predicted"]["lazy"]["list"]["requests"] == 4321


def test_early_and_usual_runs_start_on_each_device(tmp_path, build, monkeypatch, capsys):
    """One that is slower for certain fails; a workload that has no early run is refused."""
    monkeypatch.setattr(WorkFolder, "build", lambda self, targets: None)
    monkeypatch.setattr(early, "work_folder", lambda described, source, *_: WorkFolder(
        described, source, tmp_path / described.name, build / "bin", Path("/llvm")))
    monkeypatch.setattr(early.kinds, "KINDS", ("hdd", "ssd"))
    figures = {"major_faults": {"median": 3}, "read_bytes": {"median": 2e6}}
    measured = {"figures": {"default": figures, "front": figures}}
    lows = {"git": 1.04, "cc1": 1.06}
    monkeypatch.setattr(early, "measure", lambda work, arguments, device, rounds: measured | {
        "device": device,
        "time_ratio": {"estimate": 1.1, "low": lows[work.workload.name], "high": 1.2}})
    for workload, status, said in (("git", EXIT_OK, ""),
                                   ("cc1", EXIT_VERDICT, "is slower with a front on hdd"),
                                   ("wasm-tools", EXIT_USAGE, "has no run that leaves at once")):
        assert early.main([workload, "--json", f"{tmp_path}/{workload}.json"]) == status
        assert said in capsys.readouterr().err
    starts = read_json(tmp_path / "git.json", "frontload-early/1")["starts"]
    assert [(start["run"], start["device"]) for start in starts] == [
        ("early", "hdd"), ("early", "ssd"), ("usual", "hdd"), ("usual", "ssd")]
    assert starts[0]["arguments"] == ["--version"]
