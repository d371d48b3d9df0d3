"""bench/fleet, bench/giant, bench/scale: what they generate is what they say it is, and all of what
they measure is measured."""

import subprocess
import sys

import numpy as np
import pytest
from bench_room import read_json
from coldbench import fleet, giant, scale
from coldbench.measure import memory
from coldbench.variants import giants, scaled
from elftools.elf.elffile import ELFFile
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.profile import trace
from places import BUILD, LLVM

pytestmark = pytest.mark.usefixtures("tools")
SHARE, SHARE_OF_GIANT = 0.0002, 0.001
TOOLS = ["--build-dir", str(BUILD), "--llvm", str(LLVM.parent)]


def test_traces_of_a_fleet_resemble_each_other(tmp_path):
    """All ways of merging them are measured: parts, all of them, here each twice, and both recipes,
    which have to give the same bytes."""
    assert fleet.main(["--functions=500", "--traces=60", "--repeat=2", "--touches=100", "--runs=1",
                       "--recipes", f"--work-dir={tmp_path}", *TOOLS]) == 0
    rows = read_json(tmp_path / "fleet.result.json", "frontload-fleet/1")["rows"]
    assert [(row["by"], row["traces"]) for row in rows] == [
        ("frontload profile", 1), ("frontload profile", 12), ("frontload profile", 120),
        ("make", 120), ("DuckDB, 2 profiles", 120)]
    traces = trace.find(tmp_path / "traces/0")[:2]
    one, other = (trace.read(path).addresses.tolist() for path in traces)
    common = sorted(set(one) & set(other))
    assert len(one) == len(other) == 100 and len(common) > 50
    places = [[each.index(address) for address in common] for each in (one, other)]
    assert np.corrcoef(*places)[0, 1] > 0.8


def test_memory_is_that_of_all_processes(spawn, tmp_path):
    """A child's counts with its parent's, and what both share once. A command that fails ends it.
    """
    holds, forks = "held = bytearray(b'x') * 80_000_000", "import os; os.fork()"

    def used(*steps: str) -> int:
        """Of processes that have done these steps, until their standard input ends."""
        said = "import os, sys; os.write(1, b'.'); sys.stdin.read()"
        process = spawn(sys.executable, "-c", "\n".join((*steps, said)), stdin=subprocess.PIPE)
        for _ in range(1 + steps.count(forks)):
            process.stdout.read(1)
        return sum(map(memory._memory, memory._family(process.pid)))

    alone, shared, both = used(holds), used(holds, forks), used(forks, holds)
    assert 80e6 < alone < shared < 120e6 and both > 160e6
    with pytest.raises(memory.Failure, match="status 3: no"):
        memory.run(["sh", "-c", "echo no >&2; exit 3"], tmp_path)


def test_both_linkers_are_timed_in_pairs(tmp_path, capsys):
    """Objects have as many sections and symbols as is told. The result has each link and the
    ratios; a front is made, so the profile fits. What cannot be linked has no time."""
    result = tmp_path / "result.json"
    options = [*TOOLS, "--work-dir", str(tmp_path), "--scale", str(SHARE_OF_GIANT), "--pairs"]
    assert giant.main([*options, "2", "--json", str(result)]) == 0
    assert capsys.readouterr().out.count("paired ratio") == 2
    found = read_json(result, "frontload-giant/1")["giants"]
    assert [(each["name"], len(each["links"]["pairs"])) for each in found] == [
        (each.name, 2) for each in giants.GIANTS]
    objects = list((tmp_path / "objects/objects").iterdir())
    assert len(objects) == giants.OBJECTS * SHARE_OF_GIANT
    with objects[0].open("rb") as stream:
        image = ELFFile(stream)
        assert image.num_sections() == 250
        assert image.get_section_by_name(".symtab").num_symbols() == 500
    with (tmp_path / "symbols/inputs").open("a") as inputs:
        inputs.write("no-such-file.o\n")
    assert giant.main([*options, "1", "--only", "symbols"]) != 0
    assert "no-such-file.o" in capsys.readouterr().err


def test_every_verb_is_measured(tmp_path, capsys):
    """The program has as many symbols as is told, each with a name of 79 bytes; the trace is of it.
    There is a row for each verb; here one that needs nothing and one that needs what it wrote."""
    made = scaled.make(tmp_path, SHARE, LLVM / "ld.lld")
    symbols = elf.read(made.program).linked_symbols()
    names = symbols.names.some(np.flatnonzero(symbols.size == 112))
    files = np.count_nonzero(symbols.type == constants.STT_FILE)
    assert len(set(names)) + files == scaled.SYMBOLS * SHARE and {len(n) for n in names} == {79}
    read = trace.read(made.trace)
    assert len(set(read.addresses.tolist())) == len(read.kinds) == scaled.EVENTS * SHARE
    assert {name.partition(" ")[0] for name, _ in scale.rows(made)} >= {
        "profile", "order", "check", "predict", "faults", "report", "measure"}
    result = tmp_path / "result.json"
    options = ["--scale", str(SHARE), *TOOLS, "--work-dir", str(tmp_path), "--only"]
    assert scale.main([*options, "profile,check", "--json", str(result)]) == 0
    rows = read_json(result, "frontload-scale/1")["rows"]
    assert [row["verb"] for row in rows] == ["profile", "check"]
    assert all(row["seconds"] > 0 and row["processor_seconds"] > 0 for row in rows)
    assert scale.main([*options, "link"]) == giant.main([*TOOLS, "--only", "dwarf"]) == 2
    said = capsys.readouterr().err
    assert "link" in said and "dwarf" in said
