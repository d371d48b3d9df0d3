"""The race: its rows, what it times beside the starts, its verdicts, and a whole small one."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from abilities import needs
from bench_room import BENCH, read_json, work_folder, write_files
from coldbench.judge import first
from coldbench.judge.figures import PLAIN, THROTTLED, Figures, Start
from coldbench.measure import recordings
from coldbench.variants import rows, workload
from coldbench.variants.work_folder import WorkFolder
from frontload.base.errors import Failure
from measuring import sample

ALL = {row.name: "not here" for row in rows.ROWS}


def test_each_row_is_there_or_explained(tmp_path):
    """A workload that leaves a row out must say why, and cannot explain away what it has. The rows
    of others stand first."""
    def chosen(*peers, absent) -> list[str]:
        described = work_folder(tmp_path, peers=peers, absent=absent).workload
        return [row.name for row in rows.of(described)]

    absent = {name: why for name, why in ALL.items() if name not in ("default", "bolt")}
    assert chosen("bolt", absent=absent) == ["default", "bolt"]
    with pytest.raises(Failure, match="row bolt is not explained"):
        chosen(absent=absent)
    with pytest.raises(Failure, match="row order is both there and absent"):
        chosen("bolt", "order", absent=absent)
    ours = [row.ours for row in rows.ROWS]
    assert ours == sorted(ours) and any(ours)


@pytest.mark.parametrize("name", ["cc1", "cpython", "git", "wasm-tools", "z3"])
def test_every_row_of_a_workload_can_be_built(name, tmp_path):
    """Each row is there or explained, and Ninja knows how to make it and what records it."""
    described, source = workload.load(name)
    for tool in ("bin/frontload", "bin/frontload-trace", "bin/frontload-valgrind",
                 "bin/ld.frontload", "lib/libfrontload-prefetch.so", "llvm/bin/ld.lld"):
        (tmp_path / tool).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / tool).touch()
    work = WorkFolder(described, source, tmp_path / "work", tmp_path / "bin", tmp_path / "llvm")
    chosen = rows.of(described)
    recorders = {name for row in chosen for name in rows.recorders(described, row)}
    programs = [work.target(recordings.RECORDERS[name].program) for name in sorted(recorders)]
    targets = [*work.targets([row.name for row in chosen]), *programs, "traces.data"]
    ninja = subprocess.run(["ninja", "-C", work.folder, "-f", f"{described.name}.ninja", "-n",
                            *targets], capture_output=True, text=True)
    assert ninja.returncode == 0, ninja.stdout + ninja.stderr


@pytest.mark.parametrize("name, times, seconds, plain, slowdown", [
    ("breakpoints", (9, 4, 1, 2, 2, 8, 1, 3), (2, 8, 3), (1, 2, 1), 3),
    ("data", (9, 60, 2), (60,), (2,), 30)])
def test_a_quick_recording_is_repeated(tmp_path, name, times, seconds, plain, slowdown):
    """By turns with the plain program, which it is compared with; the first pair warms up. A long
    one is made once, and compared with a plain run that is warm."""
    left, commands = list(times), []

    def run(command):
        commands.append(command[0])
        return sample(left.pop(0))

    found = recordings.time_recording(work_folder(tmp_path), name, lambda doing: None,
                                      SimpleNamespace(run=run))
    assert (found.seconds, found.plain_seconds, found.slowdown) == (seconds, plain, slowdown)
    assert commands[0] == f"{tmp_path}/w.default"
    assert commands[1].startswith("/bin/frontload-")


def judge(ours: dict, peers: dict) -> dict:
    """The verdicts on variants with these major faults, bytes read, cold times and throttled
    ones."""
    medians, times = {}, {}
    for name, (faults, read, cold, slow) in {**ours, **peers}.items():
        medians[name] = {"major_faults": faults, "read_bytes": read}
        times |= {Start(name, PLAIN): cold, Start(name, THROTTLED): slow}
    found = first.verdicts(Figures(medians, times), list(ours), list(peers))
    return {verdict.figure: verdict for verdict in found}


def test_first_is_who_beats_every_peer():
    """By the better of our rows; equal counts and overlapping times are too close to tell, and a
    single pair has no interval, so nobody is first in time."""
    ours = {"front": (9, 5e6, [1, 1.1, 1], [2, 2, 2]),
            "prefetch": (2, 6e6, [1, 1, 1.3], [1, 1, 1])}
    peers = {"order": (20, 9e6, [1, 1.3, 1.2], [3, 3, 3.1]),
             "preread": (2, 50e6, [5, 5, 5.1], [0.5, 0.5, 0.51])}
    found = judge(ours, peers)
    assert {name: verdict.holds for name, verdict in found.items()} == {
        "major_faults": None, "read_bytes": True, "cold": None, "throttled": False}
    assert found["read_bytes"].text == "bytes read: front 5.00 MB, order 9.00 MB"
    assert found["throttled"].text.startswith("cold time, slow device: prefetch 0.000 s, preread")
    found = judge({"front": (1, 1, [1], [1])}, {"order": (2, 2, [9], [9])})
    assert [verdict.holds for verdict in found.values()] == [True, True, None, None]


PROGRAM = r"""
#include <stdio.h>
__attribute__((section(".big"))) const char big[2 << 20] = {1};
int main(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof big; i += STEP) sum += ((const volatile char *)big)[i];
  return printf("%d\n", sum == 1) != 2;
}
"""
DESCRIPTION = """
from coldbench.variants.rows import ROWS
from coldbench.variants.workload import Workload
there = ("default", "order", "preread", "willneed", "front")
WORKLOAD = Workload(
    name="small", variants=("default", "front"), peers=("order", "preread", "willneed"),
    arguments=(), absent={row.name: "<why>" for row in ROWS if row.name not in there})
"""
NINJA = """
include $workloads/rules.ninja
program = ./small.default
rule link
  command = cc -O1 -DSTEP=$step $in -Wl,--build-id -o $out
build small.default: link $source/program.c
  step = 4096
build small.order: link $source/program.c
  step = 262144
build small.front: link $source/program.c
  step = 1048576
build traces.data: record small.default
  how = --data
"""


@needs("loop-devices", "throttle", "ptrace", "valgrind")
def test_a_whole_race(build, tmp_path, run):
    """All rows are measured on one device; JSON, table, links, recordings, limit and verdict."""
    folder = write_files(tmp_path / "small", program_c=PROGRAM, workload_py=DESCRIPTION,
                         variants_ninja=NINJA)
    (tmp_path / "tmp").mkdir()
    shown = run(BENCH / "race", folder, "--runs=1", "--build-dir", build, "--work-dir",
                tmp_path / "work", "--json", tmp_path / "race.json", env=os.environ | {
                    "TMPDIR": str(tmp_path / "tmp"), "FRONTLOAD_PYTHON": sys.executable}).stdout
    (raced,) = read_json(tmp_path / "race.json", "frontload-race/1")["workloads"]
    assert raced["outputs_are_identical"] and raced["place"]["own_device"]
    assert 2048 <= raced["limit"]["touched_bytes"] < 100_000
    found = {variant["name"]: variant for variant in raced["variants"]}
    assert list(found) == ["default", "order", "preread", "willneed", "front"]
    default, order, preread = found["default"], found["order"], found["preread"]
    assert default["requests"]["bytes"] >= default["cold"]["read_bytes"]["median"] > 2e6
    assert order["cold"]["read_bytes"]["median"] < 2e6 == pytest.approx(
        preread["cold"]["read_bytes"]["median"], rel=0.1)
    assert preread["cold"]["major_faults"]["median"] < default["cold"]["major_faults"]["median"]
    assert len(default["link"]["runs"]) == 3 and preread["link"] is None
    assert [each["recorder"] for each in found["front"]["recording"]] == ["breakpoints", "data"]
    assert {absent["why"] for absent in raced["absent"]} == {"<why>"}
    assert [verdict["figure"] for verdict in raced["verdicts"]][:4] == [
        "major_faults", "all_faults", "read_bytes", "slow_by_requests_ns"]
    # 128 KiB readahead: 16 requests at 150 a second, or 2 MB at 80.
    waited = default["slow_by_requests_ns"] - default["warm"]["wall_ns"]["median"]
    assert waited == pytest.approx(default["requests"]["reads"] / 150 * 1e9)
    assert "gcc-pgo: <why>" in shown
    assert list((tmp_path / "tmp").iterdir()) == []
