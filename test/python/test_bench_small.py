"""The bench's small programs: start, steady, picture, and that of readahead."""

import json

import numpy as np
import pytest
from bench_room import read_json
from coldbench import picture, start, start_picture, steady
from coldbench.__main__ import main as bench
from coldbench.measure import typical
from coldbench.show import readahead_picture
from frontload.base.errors import EXIT_OK
from frontload.reading import listing
from frontload.reading.listing import MAP, PAGE, File, ReadingList, Touch
from places import BUILD

pytestmark = pytest.mark.usefixtures("tools")
FILES = File("/a", 2 * PAGE + 1, 5), File("/b", PAGE, 6)
TOUCHED = ReadingList(1, {FILES[0]: {1: Touch(0, 1, MAP)}, FILES[1]: {0: Touch(1, 1, MAP)}})


def test_all_figures_are_kept(tmp_path, build, monkeypatch, capsys):
    ways = start.AS_IT_IS, start.WHOLE, start.LIST
    monkeypatch.setattr(start, "measure", lambda started, device, rounds, progress, system: (
        {name: [start.Start(3, 2_000_000, 40, 10 ** 9 // (1 + number))] * rounds
         for number, name in enumerate(ways)},
        {name: {"major_faults": 3, "requests": 4321, "read_bytes": 2_000_000} for name in ways}))
    path = tmp_path / "app.files"
    path.write_bytes(listing.to_bytes(TOUCHED))
    assert bench(["start", f"--list={path}", f"--json={tmp_path / 'result'}",
                  f"--build-dir={build}", "--runs=2", "--devices=lazy", "--", "app"]) == EXIT_OK
    assert "4321" in capsys.readouterr().out
    document = read_json(tmp_path / "result", "frontload-start/1")
    assert document["commands"]["as it is"] == {"command": ["app"], "files": 2,
                                                "touched_bytes": 2 * PAGE}
    assert {name: len(starts) for name, starts in document["starts"]["lazy"].items()} == {
        "as it is": 2, "whole files": 2, "list": 2}
    assert document["predicted"]["lazy"]["list"]["requests"] == 4321


# Stands for an interpreter: says its name in a log, and writes what a worker of pyperf does.
INTERPRETER = """#!/bin/sh
echo NAME >>LOG
while [ "$1" != -o ]; do shift; done
echo '{"benchmarks": [{"runs": [{"values": [2, 1]}]}]}' >"$2"
"""


def test_each_round_runs_both(tmp_path, capsys):
    """The first round warms up; the order changes, so that neither is always the first."""
    for name in ("plain", "front"):
        text = INTERPRETER.replace("NAME", name).replace("LOG", f"'{tmp_path}/log'")
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "bin").symlink_to(BUILD / "bin")
    result = tmp_path / "result"
    assert bench(["steady", "--build-dir", f"{tmp_path}", "--interpreters",
                        f"{tmp_path}/plain,{tmp_path}/front", "--json", f"{result}", "--rounds",
                        "4", "--programs", "json_loads", "--no-counts"]) == 0
    assert "json_loads" in capsys.readouterr().out
    runs = (tmp_path / "log").read_text().split()
    rounds = [tuple(runs[i:i + 2]) for i in range(0, len(runs), 2)]
    assert len(rounds) == 5 and set(rounds) == {("plain", "front"), ("front", "plain")}
    assert steady.of_layouts([1, 10, 5, 12, 3, 16], 2) == [1, 10]  # the least of its rounds
    (program,) = read_json(result, "frontload-steady/3")["programs"]
    assert program["seconds"] == [[1] * 4] * 2 and len(program["time_ratios"]) == 1


def test_a_typical_ratio_does_not_heed_what_is_far_off():
    """It hardly moves where a mean would."""
    random = np.random.default_rng(1)
    base = np.exp(random.normal(0, 0.01, 60))
    values = base * np.exp(random.normal(0.03, 0.005, 60))
    for _ in range(2):
        found = typical.ratio(values, base)
        assert found.low < found.estimate < found.high
        assert found.estimate == pytest.approx(np.exp(0.03), abs=0.003)
        values[:6] *= 2


RUN = {"schema": "frontload-bench/2", "workloads": [{"name": "small", "variants": [
    {"name": "<default>", "size": 100_000, "page_size": PAGE, "read_pages": "0+3 10+2",
     "cold": {"major_faults": {"median": 7}, "read_bytes": {"median": 20_480}}}]}]}
# The first way reads of two files; the second has one of them elsewhere.
START = {"schema": "frontload-start/1", "read": {"hdd": {
    "as it is": {"/lib/libfoo.so": {"size": 100 * PAGE, "pages": "0+10 50+2"},
                 "/etc/foo": {"size": 5, "pages": "0+1"}},
    "fronts": {"/front/libfoo.so": {"size": 90 * PAGE, "pages": "0+4"}}}}}
READ_AHEAD = {"workload": "small", "variants": ["plain", "front"], "rows": [
    {"read_ahead_kib": kib, "variant": name, "major_faults": faults, "read_bytes": faults * 1e5}
    for name, factor in (("plain", 700), ("front", 50))
    for kib, faults in ((0, 9 * factor), (128, factor), (1024, 0))]}


def test_pictures(tmp_path, capsys):
    """Figures of variants; files by what was read of them. Something else is refused."""
    output = tmp_path / "x.svg"

    def draw(result, *arguments, code=0) -> str:
        output.unlink(missing_ok=True)
        (tmp_path / "result.json").write_text(json.dumps(result))
        assert bench(["picture", f"{tmp_path}/result.json", "-o", str(output), *arguments]) == code
        return output.read_text() if output.exists() else ""

    drawn = draw(RUN)
    assert "&lt;default&gt;" in drawn and "7 faults, 0.0 MB" in drawn
    (strip,) = picture.strips(RUN["workloads"][0])
    assert strip["read"] == [(0, 3 * PAGE), (10 * PAGE, 2 * PAGE)]

    found = start_picture.rows(START["read"]["hdd"], ["as it is", "fronts"])
    assert [name for name, _ in found] == ["libfoo.so", "foo"]
    assert [strip and strip.resident_pages for strip in found[0][1]] == [12, 4]
    assert found[1][1][1] is None
    assert "fronts" in draw(START) and "fronts" not in draw(START, "--ways", "as it is")
    assert draw({}, code=65) == ""
    assert f"frontload: error: {tmp_path}/result.json: " in capsys.readouterr().err


def test_the_picture_of_readahead():
    """It has a line for each variant, whose name it gives."""
    drawn = readahead_picture.draw(READ_AHEAD)
    for text in (b"plain", b"front", b"major faults", b"MB read"):
        assert drawn.count(b">" + text + b"<") == 1
