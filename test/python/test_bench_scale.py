"""bench/scale: the generated program is what it is said to be, and every verb is measured."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.profile import trace
from places import BUILD, LLVM

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench import scale
from coldbench.variants import scaled

SHARE = 0.0002


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> scaled.Scaled:
    return scaled.make(tmp_path_factory.mktemp("scale") / "it", SHARE, LLVM / "ld.lld")


def test_the_program_has_the_symbols_that_are_told(made):
    """So many, with one name each of 79 bytes; a tenth is data, and a tenth local. It can be run.
    """
    symbols = elf.read(made.program).linked_symbols()
    ours = symbols.size == 112
    names = symbols.names.some(np.flatnonzero(ours))
    assert len(set(names)) == len(names) and {len(name) for name in names} == {79}
    files = np.count_nonzero(symbols.type == constants.STT_FILE)
    assert len(names) + files == scaled.SYMBOLS * SHARE
    assert np.count_nonzero(ours & (symbols.type == constants.STT_OBJECT)) == \
        scaled.SYMBOLS * SHARE // 10
    assert np.count_nonzero(ours & (symbols.bind == constants.STB_LOCAL)) == \
        scaled.SYMBOLS * SHARE // 10 - files
    assert subprocess.run([made.program]).returncode == 0


def test_the_trace_is_of_the_program(made):
    """Its events are of different functions and data."""
    read = trace.read(made.trace)
    assert read.main.path == str(made.program)
    assert len(set(read.addresses.tolist())) == len(read.kinds) == scaled.EVENTS * SHARE
    assert np.count_nonzero(read.kinds == trace.DATA) == len(read.kinds) // 10


def test_every_verb_is_measured(made, tmp_path, capsys):
    """All rows that need no device and no right to trace; each has time and memory, which a table
    shows."""
    names = [name for name, _ in scale.rows(made)]
    assert {name.partition(" ")[0] for name in names} >= {
        "profile", "order", "check", "predict", "faults", "report", "measure"}
    here = [name for name in names
            if not name.startswith(("faults", "report", "measure", "order --linker llvm"))]
    result = tmp_path / "result.json"
    assert scale.main(["--scale", str(SHARE), "--build-dir", str(BUILD), "--llvm",
                       str(LLVM.parent), "--work-dir", str(made.folder), "--only", ",".join(here),
                       "--json", str(result)]) == 0
    document = json.loads(result.read_text())
    assert document["schema"] == "frontload-scale/1" and document["scale"] == SHARE
    assert [row["verb"] for row in document["rows"]] == here
    assert all(row["seconds"] > 0 and row["processor_seconds"] > 0 for row in document["rows"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in here)


def test_a_row_that_there_is_not(made, capsys):
    assert scale.main(["--scale", str(SHARE), "--build-dir", str(BUILD), "--llvm",
                       str(LLVM.parent), "--work-dir", str(made.folder), "--only", "link"]) == 2
    assert "link" in capsys.readouterr().err


@pytest.mark.parametrize("share", ["0", "2", "x"])
def test_a_share_is_a_part_of_the_whole(share, capsys):
    with pytest.raises(SystemExit):
        scale.parse(["--scale", share])
    assert share in capsys.readouterr().err
