"""bench/fleet: traces are what they are said to be, and all ways of merging are measured."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from frontload.profile import trace
from places import BUILD, LLVM

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench import fleet
from coldbench.measure import memory
from coldbench.variants import fleets


def test_traces_are_of_the_program_and_resemble_each_other(tmp_path):
    """So many first touches each, most of them of all runs, nearly in one order."""
    program = tmp_path / "app"
    addresses = fleets.make_program(program, 1000, LLVM / "ld.lld")
    fleets.make_traces(tmp_path / "all", program, addresses, 3, 400, lambda number: None)
    read = [trace.read(path) for path in trace.find(tmp_path / "all")]
    assert [len(each.kinds) for each in read] == [400] * 3
    assert {each.modules[0].path for each in read} == {str(program)}
    one, other = (each.addresses for each in read[:2])
    assert set(one.tolist()) <= set(addresses.tolist())
    common = np.intersect1d(one, other)
    assert len(common) > 250
    places = [np.array([each.tolist().index(address) for address in common])
              for each in (one, other)]
    assert np.corrcoef(*places)[0, 1] > 0.8


def test_every_way_of_merging_is_measured(tmp_path, monkeypatch):
    """Parts of the traces, all of them, and both recipes, which have to give the same bytes; here
    each trace is there twice."""
    monkeypatch.setenv("PATH", "", prepend=":")  # to be put back
    status = fleet.main(["--functions=500", "--traces=60", "--repeat=2", "--touches=100",
                         "--runs=1", "--recipes", f"--build-dir={BUILD}", f"--work-dir={tmp_path}",
                         f"--llvm={LLVM.parent}"])
    assert status == 0
    rows = json.loads((tmp_path / "fleet.result.json").read_text())["rows"]
    assert [(row["by"], row["traces"]) for row in rows] == [
        ("frontload profile", 1), ("frontload profile", 12), ("frontload profile", 120),
        ("make", 120), ("DuckDB, 2 profiles", 120)]
    assert all(row["seconds"] > 0 and row["memory"] > 1e6 for row in rows)


def test_memory_is_that_of_all_processes(tmp_path):
    """A child's counts with its parent's, and what both share once."""
    holds = "import time; held = bytearray(80_000_000); held[::4096] = b'x' * len(held[::4096]); "
    alone = memory.run([sys.executable, "-c", holds + "time.sleep(1)"], tmp_path).memory
    shared = memory.run([sys.executable, "-c", holds + "import os; os.fork(); time.sleep(1)"],
                        tmp_path).memory
    both = memory.run([sys.executable, "-c", "import os; os.fork(); " + holds + "time.sleep(1)"],
                      tmp_path).memory
    assert 80e6 < alone < shared < 120e6 and both > 160e6


def test_a_command_that_fails_ends_it(tmp_path):
    with pytest.raises(memory.Failure, match="status 3: no"):
        memory.run(["sh", "-c", "echo no >&2; exit 3"], tmp_path)
