"""The cold-start bench: whole runs with a small workload, and the small programs beside it."""

import os
import signal
import sys
from pathlib import Path

import pytest
from abilities import needs
from bench_room import BENCH, read_json, work_folder, write_files
from coldbench import hooks
from coldbench import run as program
from coldbench.judge import replay
from coldbench.variants.workload import RECORDED, RECORDED_BLOCKS
from frontload.base.errors import Failure
from frontload.device import cold_device
from measuring import left_behind, line_of

pytestmark = pytest.mark.usefixtures("tools")

# Reads its 4 MB of constants, writes its output, and notes that it was run, and whether throttled.
# At its run number HANG_AT it says so to a FIFO and stays, to be interrupted.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
__attribute__((section(".big"))) const char big[4 << 20] = {1};
int main(int argc, char **argv) {
  unsigned sum = argc + ADD;
  for (unsigned i = 0; i < sizeof big; i += 4096) sum += ((const volatile char *)big)[i];
  FILE *output = fopen(argv[1], "w"), *runs = fopen(argv[2], "a");
  fprintf(output, "%u\n", sum);
  char groups[4096] = "";
  FILE *group = fopen("/proc/self/cgroup", "r");
  fread(groups, 1, sizeof groups - 1, group);
  fputc(strstr(groups, "/frontload-throttle.") ? 't' : 'p', runs);
  struct stat status;
  if (fclose(runs) || stat(argv[2], &status)) return 1;
  if (getenv("HANG_AT") && status.st_size == atoi(getenv("HANG_AT"))) {
    FILE *fifo = fopen(getenv("FIFO"), "w");
    fputs("hangs\n", fifo);
    fclose(fifo);
    pause();
  }
  return fclose(output);
}
"""
WORKLOAD = """
from coldbench.judge.verdicts import AtMost, Fewer
from coldbench.variants.workload import Workload
WORKLOAD = Workload(
    name="small", variants=("default", "other"), arguments=("{output}", "{source}/runs"),
    requirements=(AtMost("default", "read_bytes", LIMIT),
                  Fewer("other", "absent", "major_faults")))
"""
NINJA = """
rule link
  command = cc -O1 -DADD=$add $in -o $out
build small.default: link $source/program.c
  add = 0
build small.other: link $source/program.c
  add = OTHER
"""

@pytest.fixture
def workload(tmp_path):
    """workload(limit, other): a folder with a workload of two programs; `limit` is what may be
    read, and `other` what the second one adds to its output."""
    def workload(limit=8e6, other=0) -> Path:
        return write_files(tmp_path / "small", program_c=PROGRAM,
                           workload_py=WORKLOAD.replace("LIMIT", str(limit)),
                           variants_ninja=NINJA.replace("OTHER", str(other)))
    return workload


@pytest.fixture
def bench(build, tmp_path, workload, spawn):
    """bench(**environment): a started bench/run, with one run of each kind."""
    def bench(**environment):
        (tmp_path / "tmp").mkdir()
        environment |= {"TMPDIR": str(tmp_path / "tmp"), "FRONTLOAD_PYTHON": sys.executable}
        return spawn(BENCH / "run", workload(), "--runs=1", "--no-links", "--build-dir", build,
                     "--work-dir", tmp_path / "work", env=os.environ | environment)

    return bench


@pytest.fixture
def here(build, tmp_path, capsys):
    """here(*arguments, code=0): what a bench in this process, without a device, has shown."""
    def here(*arguments, code=0):
        status = program.run(program.parse(
            [f"{tmp_path}/small", "--runs=1", "--no-links", "--no-device", f"--build-dir={build}",
             f"--work-dir={tmp_path}/work", *arguments]))
        shown = capsys.readouterr()
        assert status == code, shown.out + shown.err
        return shown.out

    return here


@needs("loop-devices", "throttle")
def test_a_whole_run_on_a_device(bench, tmp_path):
    """Plain, throttled and warm runs of both variants are measured, judged and kept."""
    process = bench()
    shown, said = process.communicate()
    assert process.returncode == 0, shown + said
    (measured,) = read_json(tmp_path / "work/small.result.json", "frontload-bench/2")["workloads"]
    assert measured["place"]["file_system"] == "ext4"
    assert measured["place"]["read_ahead_kib"] == cold_device.READ_AHEAD_KIB
    assert [variant["name"] for variant in measured["variants"]] == ["default", "other"]
    for variant in measured["variants"]:
        assert variant["size"] >= variant["cold"]["read_bytes"]["median"] > 4e6
        assert variant["slow"]["read_bytes"]["median"] > 4e6 and variant["read_pages"]
        assert variant["warm"]["read_bytes"]["median"] == 0
    assert [verdict["holds"] for verdict in measured["verdicts"]] == [True, None, True]
    assert "ok          default: 4." in shown
    assert "not judged  other: fewer major faults than absent" in shown
    assert measured["missing"] == []
    assert (tmp_path / "small/runs").read_text() == "pp" + "pp" + "pp" + "tt"
    assert left_behind(process.pid, tmp_path) == []


@needs("eviction", "tmp-on-disk")
def test_without_a_device(here, workload, tmp_path):
    """What needs root is named as missing and not judged; the rest is measured. A variant that
    writes another output than the others fails."""
    workload(limit=1e6, other=1)
    shown = here(code=1)
    assert "FAIL        the program's output is identical in all variants" in shown
    assert "missing: a device of its own: --no-device" in shown
    assert "missing: runs on a slow disk" in shown
    assert "not judged  default: MB read: at most 1.0" in shown
    (measured,) = read_json(tmp_path / "work/small.result.json", "frontload-bench/2")["workloads"]
    assert measured["variants"][0]["cold"]["read_bytes"]["median"] > 4e6
    assert "not judged  " not in here("--no-verdict")


@needs("loop-devices", "throttle")
def test_an_interrupted_run_leaves_nothing(bench, tmp_path):
    """The program, mount, loop device, cgroup and temporary files are gone. Run 7 is the first that
    is throttled, after 2 warm-ups, 2 cold and 2 warm runs."""
    os.mkfifo(tmp_path / "fifo")
    process = bench(HANG_AT="7", FIFO=str(tmp_path / "fifo"))
    assert line_of(tmp_path / "fifo", process) == "hangs\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate() and process.returncode == 128 + signal.SIGTERM
    assert left_behind(process.pid, tmp_path) == []
    assert not list((tmp_path / "work").glob("device*"))


def test_wrong_names_and_numbers_are_refused(here, workload, capsys):
    """A wrong name with what there is to choose from."""
    workload()
    with pytest.raises(Failure) as refusal:
        program.run(program.parse(["cc2"]))
    assert refusal.value.note.startswith("there are: cc1, cc1-heldout, cc1-library, ")
    with pytest.raises(Failure, match="none: no such variant") as refusal:
        here("--variants=default,none")
    assert refusal.value.note == "there are: default, other"
    for option in ("--runs=0", "--runs=many", "--link-runs=0"):
        with pytest.raises(SystemExit):
            program.parse(["cc1", option])
        assert "is not a number from 1 up" in capsys.readouterr().err


def test_what_ninja_is_told(tmp_path):
    """A variant that is no program is measured by the command that opens it. Ninja knows the
    arguments of each run to train with by its name, quoted for the shell."""
    work = work_folder(tmp_path, openers={"default": ("{work}/open", "--it")},
                       arguments=("-o", "{output}"),
                       training={"c-O2": ("-O2", "{source}/a b.c", "{output}")})
    assert work.command("default", Path("/d/w"), Path("out")) == (
        f"{tmp_path}/open", "--it", "/d/w", "-o", "out")
    assert work.command("b", Path("/d/w.b"), Path("out"))[0] == "/d/w.b"
    text = (tmp_path / "w.ninja").read_text()
    assert f"\narguments.c-O2 = -O2 '{tmp_path}/a b.c' training.out\n" in text


def test_each_variant_is_predicted_from_its_own_recording(tmp_path, monkeypatch):
    """A layout of blocks from the program that has a map of them, if that is another one."""
    asked = []

    def ask(path, traces, recorded, options):
        asked.append((path.name, traces[0].parent.name, recorded.name))
        return {"predictions": [{"touches": 1, "missing": 1}]}

    monkeypatch.setattr(replay.prediction, "ask", ask)
    folder = work_folder(tmp_path, recordings={"blocks": RECORDED_BLOCKS})
    for recording in (RECORDED, RECORDED_BLOCKS):
        (tmp_path / recording.traces).mkdir()
        (tmp_path / recording.traces / "app.1.fltrace").touch()
    place = {"read_ahead_kib": 128, "own_device": True}
    replay.replay(folder, [{"name": name} for name in ("front", "blocks")], place)
    assert asked == [("w.front", "traces.data", "w.default"),
                     ("w.blocks", "traces.blocks.data", "w.mapped")]


@needs("strace")
def test_the_cost_of_hooks(build, capsys):
    """Of a first touch, the system calls are told, of which chunks of the trace add few."""
    assert hooks.main(["--rounds=2", f"--build-dir={build}"]) == 0
    rows = capsys.readouterr().out.splitlines()
    (calls,) = [row.split()[-1] for row in rows if row.startswith("system calls of a first touch")]
    assert 1 <= float(calls) < 1.01
