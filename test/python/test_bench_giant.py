"""bench/giant: generated objects are what they are said to be, and both linkers link them."""

import json
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench import giant
from coldbench.variants import giants

SHARE = 0.001


@pytest.fixture(autouse=True)
def same_folder(monkeypatch):
    monkeypatch.setenv("FRONTLOAD_BINDIR", "")  # to be put back afterwards


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("giant")
    for each in giants.GIANTS:
        giants.make(each, folder / each.name, SHARE)
    return folder


def test_many_objects_have_the_sections_and_symbols_that_are_told(made):
    """250 and 500 each, so that 20,000 have 5 and 10 million."""
    paths = sorted((made / "objects" / "objects").iterdir())
    assert len(paths) == giants.OBJECTS * SHARE
    for path in paths:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            assert elf.num_sections() == 250
            assert elf.get_section_by_name(".symtab").num_symbols() == 500
    assert b"@@@@" not in path.read_bytes(), "a placeholder is left"


def test_one_object_has_the_symbols_that_are_told(made):
    with (made / "symbols" / "giant.o").open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".symtab")
        assert symbols.num_symbols() == 1 + giants.SYMBOLS_OF_ONE * SHARE
        names = {symbol.name for symbol in symbols.iter_symbols()}
        assert len(names) == symbols.num_symbols()
        profile = (made / "symbols" / "giant.startup").read_text()
        profiled = {line.split("\t")[5] for line in profile.splitlines()[4:]}
        assert len(profiled) == giants.PROFILED_OF_ONE and profiled <= names


def test_what_is_made_is_made_once(made, monkeypatch):
    """A gigabyte takes a while; another share is another giant."""
    folder, path = made / "again", made / "again" / "giant.o"
    giants.make(giants.GIANTS[1], folder, SHARE)
    before = path.stat().st_mtime_ns
    giants.make(giants.GIANTS[1], folder, SHARE)
    assert path.stat().st_mtime_ns == before
    giants.make(giants.GIANTS[1], folder, 2 * SHARE)
    assert path.stat().st_mtime_ns != before


def test_both_linkers_are_timed_in_pairs(made, build, llvm, capsys):
    """The result has each link and the ratios; a front is made, so the profile fits."""
    result = made / "result.json"
    options = ["--build-dir", str(build), "--llvm", str(llvm.parent), "--work-dir", str(made),
               "--scale", str(SHARE), "--pairs", "2", "--json", str(result)]
    assert giant.main(options) == 0
    shown = capsys.readouterr().out
    assert shown.count("paired ratio") == 2
    document = json.loads(result.read_text())
    assert document["schema"] == "frontload-giant/1" and document["scale"] == SHARE
    for found, each in zip(document["giants"], giants.GIANTS, strict=True):
        assert found["name"] == each.name
        assert len(found["links"]["pairs"]) == 2
        assert found["links"]["memory_ratio"]["estimate"] > 0


def test_a_failed_link_is_an_error(made, build, llvm, capsys):
    """What cannot be linked has no time."""
    inputs = made / "symbols" / "inputs"
    before = inputs.read_text()
    inputs.write_text(before + "no-such-file.o\n")
    options = ["--build-dir", str(build), "--llvm", str(llvm.parent), "--work-dir", str(made),
               "--scale", str(SHARE), "--pairs", "1", "--only", "symbols"]
    try:
        assert giant.main(options) != 0
    finally:
        inputs.write_text(before)
    assert "no-such-file.o" in capsys.readouterr().err


def test_a_giant_that_there_is_not(made, build, capsys):
    assert giant.main(["--build-dir", str(build), "--only", "dwarf"]) == 2
    assert "dwarf" in capsys.readouterr().err


@pytest.mark.parametrize("share", ["0", "2", "x"])
def test_a_share_is_a_part_of_the_whole(share, capsys):
    with pytest.raises(SystemExit):
        giant.parse(["--scale", share])
    assert share in capsys.readouterr().err
