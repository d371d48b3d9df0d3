"""bench/start: what it starts, and how often."""

import json
import sys
from pathlib import Path

import pytest
from frontload.base.errors import EXIT_OK, EXIT_USAGE
from frontload.reading import listing
from frontload.reading.listing import MAP, PAGE, File, ReadingList, Touch

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from coldbench import picture, start, start_picture  # noqa: E402

FILES = File("/a", 2 * PAGE + 1, 5), File("/b", PAGE, 6)
TOUCHED = ReadingList(1, {FILES[0]: {1: Touch(0, 1, MAP)}, FILES[1]: {0: Touch(1, 1, MAP)}})


def test_whole_files_are_all_pages_of_the_same_files():
    assert {file: sorted(pages) for file, pages in start.whole(TOUCHED).pages.items()} == {
        FILES[0]: [0, 1, 2], FILES[1]: [0]}
    assert start.whole(TOUCHED).size() == 3 * PAGE + 1


def test_each_way_starts_what_it_says(tools, tmp_path):
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


@pytest.fixture
def bench(tmp_path, build, monkeypatch):
    monkeypatch.setenv("FRONTLOAD_BINDIR", "")  # to be put back afterwards
    ways = start.AS_IT_IS, start.WHOLE, start.LIST
    monkeypatch.setattr(start, "measure", lambda started, device, rounds, progress, system: (
        {name: [start.Start(3, 2_000_000, 40, 10 ** 9 // (1 + number))] * rounds
         for number, name in enumerate(ways)},
        {name: {"major_faults": 3, "requests": 4321, "read_bytes": 2_000_000} for name in ways}))
    path = tmp_path / "app.files"
    path.write_bytes(listing.to_bytes(TOUCHED))

    def bench(*arguments: str) -> int:
        return start.main([f"--list={path}", f"--json={tmp_path / 'result'}",
                           f"--build-dir={build}", *arguments, "--", "app"])

    return bench


def test_all_figures_are_kept(bench, tmp_path, capsys):
    assert bench("--runs=2", "--devices=lazy") == EXIT_OK
    shown = capsys.readouterr().out
    assert "3.0" in shown and "4321" in shown
    document = json.loads((tmp_path / "result").read_text())
    assert document["schema"] == "frontload-start/1"
    assert document["commands"]["as it is"] == {"command": ["app"], "files": 2,
                                                "touched_bytes": 2 * PAGE}
    assert {name: len(starts) for name, starts in document["starts"]["lazy"].items()} == {
        "as it is": 2, "whole files": 2, "list": 2}
    assert document["predicted"]["lazy"]["list"]["requests"] == 4321


@pytest.mark.parametrize("variant", ["front", "front= ", "list=app"])
def test_variants_that_are_none_are_refused(bench, capsys, variant):
    with pytest.raises(SystemExit) as end:
        bench(f"--variant={variant}")
    assert end.value.code == EXIT_USAGE and "NAME=COMMAND" in capsys.readouterr().err


def test_devices_that_are_not_known_are_refused(bench, capsys):
    assert bench("--devices=tape") == EXIT_USAGE
    assert "lazy" in capsys.readouterr().err


def result(tmp_path) -> Path:
    """A result whose first way reads of two files, and whose second has one of them elsewhere."""
    path = tmp_path / "start.json"
    path.write_text(json.dumps({"schema": "frontload-start/1", "read": {"hdd": {
        "as it is": {"/lib/libfoo.so": {"size": 100 * PAGE, "pages": "0+10 50+2"},
                     "/etc/foo": {"size": 5, "pages": "0+1"}},
        "fronts": {"/front/libfoo.so": {"size": 90 * PAGE, "pages": "0+4"}}}}}))
    return path


def test_variants_of_a_file_are_one_row(tmp_path):
    """Of the same name; the file from which most was read is first."""
    read = json.loads(result(tmp_path).read_text())["read"]["hdd"]
    found = start_picture.rows(read, ["as it is", "fronts"])
    assert [name for name, _ in found] == ["libfoo.so", "foo"]
    assert [strip and strip.resident_pages for strip in found[0][1]] == [12, 4]
    assert found[1][1][1] is None


def test_a_picture_of_a_start(tmp_path, capsys):
    file, picture_file = result(tmp_path), tmp_path / "x.svg"
    assert picture.main([str(file), "-o", str(picture_file)]) == EXIT_OK
    drawn = picture_file.read_text()
    assert "libfoo.so" in drawn and "fronts" in drawn
    assert picture.main([str(file), "-o", str(picture_file), "--ways", "as it is"]) == EXIT_OK
    assert "fronts" not in picture_file.read_text()
    assert picture.main([str(file), "-o", str(picture_file), "--ways", "none"]) == EXIT_USAGE
    assert picture.main([str(file), "-o", str(picture_file), "--device", "lazy"]) == EXIT_USAGE
    assert "there are: hdd" in capsys.readouterr().err
