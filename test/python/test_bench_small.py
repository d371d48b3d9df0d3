"""The bench's small programs: start and picture."""

import json
from types import SimpleNamespace

import pytest
from bench_room import read_json
from coldbench import picture, start
from coldbench.__main__ import main as bench
from frontload.base.errors import EXIT_OK
from frontload.pagecache.residency import Residency
from frontload.reading import listing
from frontload.reading.listing import MAP, PAGE, File, PrefetchList, Touch

pytestmark = pytest.mark.usefixtures("tools")
FILES = File("/a", 2 * PAGE + 1, 5), File("/b", PAGE, 6)
TOUCHED = PrefetchList(1, {FILES[0]: {1: Touch(0, 1, MAP)}, FILES[1]: {0: Touch(1, 1, MAP)}})


def test_all_figures_are_kept(tmp_path, build, monkeypatch, capsys):
    ways = start.AS_IT_IS, start.WHOLE, start.LIST
    monkeypatch.setattr(start, "measure", lambda started, device, rounds, progress, *more: (
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


RACE = {"schema": "frontload-race/1", "workloads": [{"name": "small", "variants": [
    {"name": "<default>", "title": "<default>", "size": 100_000, "page_size": PAGE,
     "read_pages": "0+3 10+2",
     "cold": {"major_faults": {"median": 7}, "read_bytes": {"median": 20_480}}}]}]}
# The first way reads of two files; the second has one of them elsewhere.
START = {"schema": "frontload-start/1", "read": {"hdd": {
    "as it is": {"/lib/libfoo.so": {"size": 100 * PAGE, "pages": "0+10 50+2"},
                 "/etc/foo": {"size": 5, "pages": "0+1"}},
    "fronts": {"/front/libfoo.so": {"size": 90 * PAGE, "pages": "0+4"}}}}}


def test_pictures(tmp_path, capsys):
    """Figures of variants; files by what was read of them. Something else is refused."""
    output = tmp_path / "x.svg"

    def draw(result, *arguments, code=0) -> str:
        output.unlink(missing_ok=True)
        (tmp_path / "result.json").write_text(json.dumps(result))
        assert bench(["picture", f"{tmp_path}/result.json", "-o", str(output), *arguments]) == code
        return output.read_text() if output.exists() else ""

    drawn = draw(RACE)
    assert "&lt;default&gt;" in drawn and "7 faults, 0.0 MB" in drawn
    bars = []
    picture.strip(SimpleNamespace(broken_barh=lambda spans, place, **look: bars.append(spans)),
                  (0, 1), Residency.from_text(100_000, "0+3 10+2"), 100_000, PAGE, 1)
    assert bars == [[(0, 100_000)], [(0, 3 * PAGE), (10 * PAGE, 2 * PAGE)]]

    found = picture.files(START["read"]["hdd"], ["as it is", "fronts"])
    assert [name for name, _ in found] == ["libfoo.so", "foo"]
    assert [strip and strip.resident_pages for strip in found[0][1]] == [12, 4]
    assert found[1][1][1] is None
    assert "fronts" in draw(START) and "fronts" not in draw(START, "--ways", "as it is")
    assert draw({}, code=65) == ""
    assert f"frontload: error: {tmp_path}/result.json: " in capsys.readouterr().err
