"""bench/scale: what it generates is what it says it is, and all of what it measures is measured."""

import numpy as np
import pytest
from bench_room import read_json
from coldbench import scale
from coldbench.__main__ import main as bench
from coldbench.variants import scaled
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.profile import trace
from places import BUILD, LLVM

pytestmark = pytest.mark.usefixtures("tools")
SHARE = 0.0002
TOOLS = ["--build-dir", str(BUILD), "--llvm", str(LLVM.parent)]


def test_every_verb_is_measured(tmp_path):
    """The program has as many symbols as told; each verb has a row, with a time."""
    made = scaled.make(tmp_path, SHARE, LLVM / "ld.lld")
    symbols = elf.read(made.program).linked_symbols()
    names = symbols.names.some(np.flatnonzero(symbols.size == 112))
    files = np.count_nonzero(symbols.type == constants.STT_FILE)
    assert len(set(names)) + files == scaled.SYMBOLS * SHARE
    assert len(trace.read(made.trace).kinds) == scaled.EVENTS * SHARE
    assert {name.partition(" ")[0] for name, _ in scale.rows(made)} >= {
        "profile", "order", "check", "predict", "faults", "report", "measure"}
    result = tmp_path / "result.json"
    assert bench(["scale", "--scale", str(SHARE), *TOOLS, "--work-dir", str(tmp_path), "--only",
                       "profile,check", "--json", str(result)]) == 0
    rows = read_json(result, "frontload-scale/1")["rows"]
    assert [row["verb"] for row in rows] == ["profile", "check"]
    assert all(row["seconds"] > 0 and row["processor_seconds"] > 0 for row in rows)
