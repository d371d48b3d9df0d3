"""The race: its rows, what it times beside the starts, its verdicts, and a whole small one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench.judge import first
from coldbench.judge.figures import PLAIN, THROTTLED, Figures, Start
from coldbench.judge.verdicts import Verdict
from coldbench.measure import limit, recordings, relinks, requests
from coldbench.measure.requests import CountingLauncher, Requests
from coldbench.variants import rows
from coldbench.variants.work_folder import WorkFolder
from coldbench.variants.workload import Workload
from frontload.base.errors import Failure
from frontload.device import cold_device
from frontload.measure.launcher import Launcher, Sample
from trace_writer import CODE, DATA, FUNCTION, TraceWriter, build_id

BENCH = Path(__file__).parents[2] / "bench"
ALL = {row.name: "not here" for row in rows.ROWS}


def sample(wall_ns=1, status=0) -> Sample:
    return Sample(status, None, wall_ns, 0, 0, 0, 0, 0, 0, 0, 0, "bad")


def workload(**described) -> Workload:
    return Workload(**{"name": "w", "variants": ("default",), "arguments": ()} | described)


@pytest.fixture
def work(tmp_path):
    """work(**workload): the folder in which a workload's variants are built."""
    def work(**described):
        return WorkFolder(workload(**described), tmp_path, tmp_path, Path("/bin"), Path("/llvm"))
    return work


class FakeLauncher:
    """Runs nothing; each run takes what it is told, in seconds."""

    def __init__(self, *seconds, status=0):
        self.seconds, self.status, self.commands, self.environment = list(seconds), status, [], []

    def run(self, command):
        self.commands.append(list(command))
        self.environment.append(dict(os.environ))
        return sample(round(self.seconds.pop(0) * 1e9), self.status)


def test_each_row_is_there_or_explained():
    """A workload that leaves a row out must say why, and cannot explain away what it has."""
    absent = {name: why for name, why in ALL.items() if name not in ("default", "bolt")}
    assert [row.name for row in rows.of(workload(peers=("bolt",), absent=absent))] == \
        ["default", "bolt"]
    with pytest.raises(Failure, match="row bolt is not explained"):
        rows.of(workload(absent=absent))
    with pytest.raises(Failure, match="row order is both there and absent"):
        rows.of(workload(peers=("bolt", "order"), absent=absent))


def test_ours_come_last():
    """The rows of others stand first, so that a reader compares downwards."""
    ours = [row.ours for row in rows.ROWS]
    assert ours == sorted(ours) and any(ours)


def test_what_is_opened_is_the_default_file(work, tmp_path):
    """A pre-read is the default's file, started by the opener, which is built with it."""
    folder = work(peers=("preread",))
    assert folder.binary("preread") == folder.binary("default")
    assert folder.command("preread", Path("/d/w"), "o") == (f"{tmp_path}/opener", "read", "/d/w")
    assert folder.targets(["default", "preread"]) == ["w.default", "opener"]


def test_a_front_that_is_run_is_the_front_itself(work, tmp_path):
    """frontload-run asks for the front of a file that another row has, so it builds no more."""
    folder = work(variants=("front",), peers=("front+run",))
    assert folder.binary("front+run") == folder.binary("front")
    assert folder.command("front+run", Path("/d/w"), "o") == (
        "/bin/frontload-run", "--", "/d/w")
    assert folder.targets(["front", "front+run"]) == ["w.front"]
    assert not rows.BY_NAME["front+run"].links_itself


def test_the_environment_of_a_workload_ends_with_it(work, tmp_path, monkeypatch):
    """Runs have the workload's variables, with its places filled in; what follows has not."""
    monkeypatch.setenv("RACE_A", "before")
    with work(environment={"RACE_A": "{work}/x", "RACE_B": "1"}).environment():
        assert (os.environ["RACE_A"], os.environ["RACE_B"]) == (f"{tmp_path}/x", "1")
    assert os.environ["RACE_A"] == "before" and "RACE_B" not in os.environ


@pytest.mark.parametrize("seconds, median", [((2, 9, 3), 3), ((30,), 30)])
def test_a_cheap_link_is_repeated(work, tmp_path, monkeypatch, seconds, median):
    """Three links of one that is quick, one of one that takes long; without the map."""
    (tmp_path / "w.default").write_text("")
    monkeypatch.setattr(WorkFolder, "build_command",
                        lambda self, target: f"link -Wl,-Map=x --Map=../x -o {target}")
    launcher = FakeLauncher(*seconds)
    found = relinks.time_link(work(), ["w.default"], lambda doing: None, launcher)
    assert (found.median, launcher.seconds) == (median, [])
    assert launcher.commands[0] == ["sh", "-c", 'cd "$0" && link -o w.default', str(tmp_path)]


def test_the_links_of_a_row_add_up(work, tmp_path, monkeypatch):
    """BOLT's row costs the link of what it rewrites, too."""
    for name in ("w.bolt-input", "w.bolt"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr(WorkFolder, "build_command", lambda self, target: target)
    found = relinks.time_link(work(), ["w.bolt-input", "w.bolt"], lambda doing: None,
                              FakeLauncher(4, 8))
    assert found.seconds == (12,)


def test_a_timed_link_leaves_everything_as_it_was(tmp_path):
    """Ninja sees no file that is newer, and the target is the one that was there."""
    for name in ("target", "map", "new"):
        (tmp_path / name).write_text("old")
        os.utime(tmp_path / name, (1, 1))
    (tmp_path / "new").unlink()
    with pytest.raises(Failure), relinks.untouched(tmp_path, "target"):
        assert not (tmp_path / "target").exists()
        for name in ("target", "map", "new"):
            (tmp_path / name).write_text("new")
        raise Failure("the link fails")
    assert (tmp_path / "target").read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["map", "new", "target"]
    assert {(tmp_path / name).stat().st_mtime for name in ("target", "map")} == {1}


def test_a_quick_recording_is_repeated(work, tmp_path):
    """By turns with the plain program, which it is compared with; the first pair warms up."""
    launcher = FakeLauncher(9, 4, 1, 2, 2, 8, 1, 3)
    found = recordings.time_recording(work(), "breakpoints", lambda doing: None, launcher)
    assert (found.seconds, found.plain_seconds) == ((2, 8, 3), (1, 2, 1))
    assert found.slowdown == 3
    assert launcher.commands[0] == [f"{tmp_path}/w.default"]
    assert launcher.commands[1][0] == "/bin/frontload-trace"


def test_a_long_recording_is_made_once(work):
    """It is compared with a plain run that is warm."""
    found = recordings.time_recording(work(), "data", lambda doing: None, FakeLauncher(9, 60, 2))
    assert (found.seconds, found.plain_seconds, found.slowdown) == ((60,), (2,), 30)


def test_what_a_recording_writes_goes_to_scratch(work, tmp_path):
    """An instrumented program does not add to the profile it has been built from."""
    launcher = FakeLauncher(1, 60, 1)
    recordings.time_recording(work(), "gcc-pgo", lambda doing: None, launcher)
    assert launcher.commands[1] == [f"{tmp_path}/w.recording.gcc-pgo"]
    scratch = launcher.environment[1]["GCOV_PREFIX"]
    assert "GCOV_PREFIX" not in launcher.environment[0]
    assert scratch and not Path(scratch).exists()
    assert "GCOV_PREFIX" not in os.environ


def test_a_recording_that_fails_is_an_error(work):
    """A failed run has no slowdown."""
    with pytest.raises(Failure, match="the plain program: the run exited with status 1"):
        recordings.time_recording(work(), "data", lambda doing: None, FakeLauncher(1, status=1))


STAT = "{reads} 5 {sectors} 3 0 0 0 0 {under_way} 9 9 0 0 0 0 0 0\n"


def test_requests_are_counted_until_none_is_under_way(tmp_path, monkeypatch):
    """Reads that nobody waited for belong to the start that asked for them."""
    stat = tmp_path / "stat"
    stat.write_text(STAT.format(reads=100, sectors=8, under_way=0))

    def run(self, command, stdout=None):
        stat.write_text(STAT.format(reads=105, sectors=80, under_way=2))
        return found

    def wait(seconds):
        stat.write_text(STAT.format(reads=107, sectors=108, under_way=0))

    found = sample()
    monkeypatch.setattr(Launcher, "__init__", lambda self: None)
    monkeypatch.setattr(Launcher, "run", run)
    monkeypatch.setattr(requests.time, "sleep", wait)
    launcher = CountingLauncher("7:0", stat)
    assert launcher.run(["start"]) is found
    assert launcher.of(found) == Requests(7, 100 * 512)


@pytest.fixture
def linked(tmp_path):
    """linked(how, text): a program that has no library, and the addresses of its symbols."""
    def linked(how, text):
        (tmp_path / "p.c").write_text(text)
        program = tmp_path / "p"
        subprocess.run(["cc", "-nostdlib", how, "-Wl,--build-id,-e,main", tmp_path / "p.c", "-o",
                        program], check=True)
        listed = subprocess.run(["nm", program], check=True, text=True, capture_output=True).stdout
        return program, {name: int(value, 16) for value, _, name in
                         (line.split() for line in listed.splitlines())}
    return linked


def test_the_limit_is_what_traces_touched_of_the_file(linked, tmp_path):
    """Granules count once, whatever touched them; zeroed memory and other files do not."""
    program, at = linked("-static", "int data[64] = {1}, zero[64];"
                         "int main(void) { return *data; }")
    trace = TraceWriter().module(1, str(program), build_id(program)).module(2, "/lib/other", b"x")
    trace.event(at["data"], 1, DATA).event(at["data"] + 4, 1, DATA)
    trace.event(at["data"] + 64, 1, DATA).event(at["zero"] + 64, 1, DATA)
    trace.event(at["main"], 1, CODE).event(at["main"], 2, CODE).event(at["main"] + 64, 1, FUNCTION)
    traces = [trace.write(tmp_path / name) for name in ("1.fltrace", "2.fltrace")]
    assert limit.touched_bytes(program, traces) == 3 * 16


def test_the_limit_has_what_the_loader_relocates(linked):
    """No trace sees the loader, which writes every pointer."""
    program, _ = linked("-pie", "int x; int *data[64] = {[0] = &x, [1] = &x, [32] = &x};"
                        "int main(void) { return 0; }")
    assert limit.touched_bytes(program, []) == 2 * 16


def judge(ours: dict, peers: dict) -> list[Verdict]:
    """The verdicts on variants of which major faults, bytes read, cold times and throttled ones are
    given."""
    medians, times = {}, {}
    for name, (faults, read, cold, slow) in {**ours, **peers}.items():
        medians[name] = {"major_faults": faults, "read_bytes": read}
        times |= {Start(name, PLAIN): cold, Start(name, THROTTLED): slow}
    return first.verdicts(Figures(medians, times), list(ours), list(peers))


def test_first_is_who_beats_every_peer():
    """By the better of our rows; equal counts and overlapping times are too close to tell."""
    ours = {"front": (9, 5e6, [1, 1.1, 1], [2, 2, 2]),
            "prefetch": (2, 6e6, [1, 1, 1.3], [1, 1, 1])}
    peers = {"order": (20, 9e6, [1, 1.3, 1.2], [3, 3, 3.1]),
             "preread": (2, 50e6, [5, 5, 5.1], [0.5, 0.5, 0.51])}
    found = {verdict.figure: verdict for verdict in judge(ours, peers)}
    assert {name: verdict.holds for name, verdict in found.items()} == {
        "major_faults": None, "read_bytes": True, "cold": None, "throttled": False}
    assert found["read_bytes"].text == "bytes read: front 5.00 MB, order 9.00 MB"
    assert found["throttled"].text.startswith("cold time, slow device: prefetch 0.000 s, preread")


def test_one_round_decides_no_time():
    """A single pair has no interval, so nobody is first in time."""
    found = judge({"front": (1, 1, [1], [1])}, {"order": (2, 2, [9], [9])})
    assert [verdict.holds for verdict in found] == [True, True, None, None]


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


def test_a_whole_race(build, tmp_path):
    """All rows are measured on one device; JSON, table, links, recordings, limit and verdict."""
    if obstacle := cold_device.obstacle():
        pytest.skip(obstacle)
    folder = tmp_path / "small"
    folder.mkdir()
    for name, text in (("program.c", PROGRAM), ("workload.py", DESCRIPTION),
                       ("variants.ninja", NINJA)):
        (folder / name).write_text(text)
    done = subprocess.run(
        [BENCH / "race", folder, "--runs=1", "--build-dir", build, "--work-dir", tmp_path / "work",
         "--json", tmp_path / "race.json"], text=True, capture_output=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "FRONTLOAD_PYTHON": sys.executable})
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "race.json").read_text())
    assert document["schema"] == "frontload-race/1"
    (raced,) = document["workloads"]
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
    # How much slower is for the clock to say, and so not for a test.
    assert all(each["slowdown"] > 0 for each in found["front"]["recording"])
    assert {absent["why"] for absent in raced["absent"]} == {"<why>"}
    assert [verdict["figure"] for verdict in raced["verdicts"]][:4] == [
        "major_faults", "all_faults", "read_bytes", "slow_by_requests_ns"]
    # 128 KiB readahead: 16 requests at 150 a second, or 2 MB at 80.
    waited = default["slow_by_requests_ns"] - default["warm"]["wall_ns"]["median"]
    assert waited == pytest.approx(default["requests"]["reads"] / 150 * 1e9)
    assert "gcc-pgo: <why>" in done.stdout
    assert [file.name for file in tmp_path.glob("frontload*")] == []
