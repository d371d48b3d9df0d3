"""The cold-start bench: its verdicts, and whole runs with a small workload."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from coldbench import hooks, overhead, picture  # noqa: E402
from coldbench import run as program  # noqa: E402
from coldbench.judge import replay, verdicts  # noqa: E402
from coldbench.judge.figures import THROTTLED, WARM, Figures, Start  # noqa: E402
from coldbench.measure import links  # noqa: E402
from coldbench.variants.work_folder import WorkFolder  # noqa: E402
from coldbench.variants.workload import RECORDED, RECORDED_BLOCKS, Workload  # noqa: E402
from frontload.base.errors import Failure  # noqa: E402
from frontload.device import cold_device, throttle  # noqa: E402
from frontload.measure import launcher as measure_run  # noqa: E402
from frontload.measure.statistics import Interval  # noqa: E402

DEFAULT, FRONT, BEST = (Start(name, THROTTLED) for name in ("default", "front", "best"))
FIGURES = Figures({"default": {"major_faults": 700, "read_bytes": 73e6},
                   "front": {"major_faults": 70, "read_bytes": 12e6}},
                  {DEFAULT: [10e9, 12e9, 14e9], FRONT: [2e9, 3e9, 4e9], BEST: [1e9, 2e9, 3e9]})

# Reads its 4 MB of constants, writes its output, and notes that it was run, and whether throttled.
# At its run number HANG_AT it stays, for the tests that interrupt it.
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
  if (getenv("HANG_AT") && status.st_size == atoi(getenv("HANG_AT"))) pause();
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

SHARED = """
from coldbench.variants.workload import Workload
WORKLOAD = Workload(name="NAME", program="shared", variants=("only",), arguments=())
"""
SHARED_NINJA = """
rule once
  command = echo once >>built && cp /bin/true $out
rule same
  command = ln -f $in $out
build common: once
build NAME.only: same common
"""


@pytest.fixture(autouse=True)
def same_python(monkeypatch):
    """The programs in bench/ run with the interpreter that runs the tests."""
    monkeypatch.setenv("FRONTLOAD_PYTHON", sys.executable)


@pytest.fixture
def workload(tmp_path):
    """A folder with a workload of two programs; workload(limit) sets what may be read, and `other`
    what the second one adds to its output."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "program.c").write_text(PROGRAM)

    def write(limit=8e6, other=0):
        (folder / "workload.py").write_text(WORKLOAD.replace("LIMIT", str(limit)))
        (folder / "variants.ninja").write_text(NINJA.replace("OTHER", str(other)))

    write()
    write.folder = folder
    return write


@pytest.fixture
def bench(build, tmp_path):
    """bench(*arguments, **environment): a started bench/run, with one run of each kind."""
    started = []

    def bench(*arguments, **environment):
        started.append(subprocess.Popen(
            [BENCH / "run", tmp_path / "small", "--runs=1", "--no-links", "--build-dir", build,
             "--work-dir", tmp_path / "work", *arguments], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path), **environment}))
        return started[-1]

    yield bench
    for process in started:
        process.terminate()
        process.communicate()


@pytest.fixture
def here(build, tmp_path, monkeypatch, capsys):
    """here(*arguments, code=0): what a bench in this process, without a device, has shown."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", "")  # to be put back afterwards

    def here(*arguments, code=0):
        status = program.run(program.parse(
            [f"{tmp_path}/small", "--runs=1", "--no-links", "--no-device", f"--build-dir={build}",
             f"--work-dir={tmp_path}/work", *arguments]))
        shown = capsys.readouterr()
        assert status == code, shown.out + shown.err
        return shown.out

    return here


def finish(process, code=0) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, out + err
    return out


def needs_device():
    obstacle = cold_device.obstacle()
    if obstacle:
        pytest.skip(obstacle)


def test_verdicts_hold_or_fail():
    """Limits include their bound, comparisons do not, the yardstick has a tolerance."""
    def holds(requirement):
        return requirement.judge(FIGURES).holds

    assert holds(verdicts.AtMost("front", "major_faults", 70))
    assert not holds(verdicts.AtMost("front", "major_faults", 69))
    assert holds(verdicts.Fewer("front", "default", "read_bytes"))
    assert not holds(verdicts.Fewer("front", "front", "read_bytes"))
    assert holds(verdicts.Near("default", "major_faults", 720, within=0.05))
    assert not holds(verdicts.Near("default", "major_faults", 800, within=0.05))


@pytest.mark.parametrize("estimate, low, holds, said", [
    (1.10, 1.05, True, "at most 1.10"), (1.10, None, True, "at most 1.10"),
    (1.12, 1.101, False, "1.101 to 1.200)"), (1.12, 1.10, None, "too noisy to tell"),
    (1.12, None, None, "too few to tell")])
def test_noise_alone_fails_no_ratio(estimate, low, holds, said):
    """A ratio above its limit fails only if its whole interval is; else it is not judged."""
    ratio = Interval(estimate, low, low and 1.2)
    verdict = verdicts.judge_ratio("link", "ld.lld's", ratio, at_most=1.10)
    assert verdict.holds is holds
    assert verdict.text.endswith(said)


@pytest.mark.parametrize("estimate, high, holds", [
    (30, 31, True), (30, None, True), (29, 29.9, False), (29, 30, None), (29, None, None)])
def test_noise_alone_fails_no_gain(estimate, high, holds):
    """A ratio below what it must be at least fails only if its whole interval is."""
    ratio = Interval(estimate, high and 25, high)
    assert verdicts.judge_ratio("default", "front", ratio, at_least=30).holds is holds


def test_starts_are_compared_in_rounds():
    """The ratio of two starts is the geometric mean of their rounds' ratios."""
    verdict = verdicts.TimesAsLong(DEFAULT, FRONT, at_least=4).judge(FIGURES)
    assert verdict == verdicts.Verdict("time of default, cold, throttled: 4.121 times that of "
                                       "front, cold, throttled: at least 4.00", True)
    assert verdicts.TimesAsLong(FRONT, DEFAULT, at_most=0.1).judge(FIGURES).holds is False


def test_a_share_of_a_gain_is_of_medians():
    """What a start saves over the base is judged by what the best one saves."""
    share = verdicts.ShareOfGain(FRONT, DEFAULT, BEST, at_least=0.9)
    assert share.judge(FIGURES) == verdicts.Verdict(
        "front, cold, throttled: share of what best saves over default: 0.90: at least 0.90", True)
    assert not verdicts.ShareOfGain(FRONT, DEFAULT, BEST, at_least=0.91).judge(FIGURES).holds
    assert verdicts.ShareOfGain(FRONT, BEST, DEFAULT, at_least=0).judge(FIGURES).holds is False


@pytest.mark.parametrize("requirement", [
    verdicts.AtMost("order", "major_faults", 1), verdicts.Near("order", "major_faults", 1, 1),
    verdicts.Fewer("order", "front", "major_faults"),
    verdicts.Fewer("front", "order", "major_faults"),
    verdicts.AtMost("front", "front_text_bytes", 1),
    verdicts.Fewer("front", "default", "read_runs"),
    verdicts.TimesAsLong(FRONT, Start("front", WARM), at_most=2),
    verdicts.ShareOfGain(FRONT, DEFAULT, Start("best", WARM), at_least=0)])
def test_what_was_not_measured_is_not_judged(requirement):
    """A variant, figure or condition that is missing neither holds a requirement nor fails it."""
    assert requirement.judge(FIGURES).holds is None


def test_a_verdict_says_the_figure_and_the_limit():
    """A reader sees what was measured and what was wanted, in one line."""
    assert verdicts.AtMost("front", "read_bytes", 16e6).judge(FIGURES).text == \
        "front: 12.0 MB read: at most 16.0"


@pytest.fixture
def work(tmp_path):
    """work(**workload): the folder in which a workload's variants are built."""
    def work(**described):
        described = {"name": "lib", "variants": ("a",), "arguments": ()} | described
        return WorkFolder(Workload(**described), tmp_path, tmp_path, Path("/bin"), Path("/llvm"))
    return work


def test_an_opener_stands_before_what_it_opens(work, tmp_path):
    """A variant that is no program is measured by the command that opens it."""
    folder = work(openers={"a": ("{work}/open", "--it")}, arguments=("-o", "{output}"))
    measured = folder.command("a", Path("/device/lib.a"), Path("out"))
    assert measured == (f"{tmp_path}/open", "--it", "/device/lib.a", "-o", "out")
    assert folder.command("b", Path("/device/lib.b"), Path("out"))[0] == "/device/lib.b"


def test_training_has_arguments_of_its_own(work, tmp_path):
    """Ninja knows the arguments of each run to train with by its name, quoted for the shell."""
    work(training={"c-O2": ("-O2", "{source}/a b.c", "{output}")})
    text = (tmp_path / "lib.ninja").read_text()
    assert f"\narguments.c-O2 = -O2 '{tmp_path}/a b.c' training.out\n" in text


def test_each_variant_is_predicted_from_its_own_recording(work, monkeypatch):
    """A layout of blocks from the program that has a map of them, if that is another one."""
    asked = []

    def ask(path, traces, recorded, options):
        asked.append((path.name, traces[0].parent.name, recorded.name))
        return {"predictions": [{"touches": 1, "missing": 1}]}

    monkeypatch.setattr(replay.prediction, "ask", ask)
    folder = work(name="small", recordings={"blocks": RECORDED_BLOCKS})
    for recording in (RECORDED, RECORDED_BLOCKS):
        (folder.folder / recording.traces).mkdir()
        (folder.folder / recording.traces / "app.1.fltrace").touch()
    place = {"read_ahead_kib": 128, "own_device": True}
    replay.replay(folder, [{"name": name} for name in ("front", "blocks")], place)
    assert asked == [("small.front", "traces.data", "small.default"),
                     ("small.blocks", "traces.blocks.data", "small.mapped")]


def test_workloads_share_a_folder(tmp_path, build, monkeypatch):
    """What two workloads of one program have in common is built once, and each has its result."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", "")
    folder = tmp_path / "bench/shared"
    (tmp_path / "bin").symlink_to(Path(build) / "bin")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "workload.py").write_text(SHARED.replace("NAME", name))
        (tmp_path / name / "variants.ninja").write_text(SHARED_NINJA.replace("NAME", name))
        assert program.run(program.parse([f"{tmp_path}/{name}", "--runs=1", "--no-device",
                                          f"--build-dir={tmp_path}"])) == 0
        assert (folder / f"{name}.result.json").is_file()
    assert (folder / "built").read_text() == "once\n"


def test_a_report_says_what_is_in_the_front(work, tmp_path):
    """The strings of a front are read-only data; a variant without a report has no such figures."""
    report = {"front": {"bytes": 100, "strings": 7},
              "classes": {"text": {"bytes": 50}, "rodata": {"bytes": 30}}}
    (tmp_path / "lib.a.json").write_text(json.dumps(report))
    assert work().front("a") == {"bytes": 100, "text_bytes": 50, "rodata_bytes": 37}
    assert work().front("b") is None


class FakeLinks:
    """Links that take what it is told; the first of each linker is the warm-up."""

    def __init__(self, samples):
        self.samples, self.commands = samples, []

    def run(self, command):
        linker = links.LINKERS[0] if "lld-command" in command[2] else links.LINKERS[1]
        self.commands.append(linker)
        wall, memory = next(self.samples[linker])
        return measure_run.Sample(0 if wall else 1, None, wall, 0, 0, 0, 0, memory, 0, 0, 0, "bad")


def time_links(tmp_path, lld, ours, pairs):
    work = SimpleNamespace(
        folder=tmp_path, workload=SimpleNamespace(timed_links=("lld", "ours")),
        build_command=lambda target: f"{target}-command")
    launcher = FakeLinks({links.LINKERS[0]: iter(lld), links.LINKERS[1]: iter(ours)})
    return links.time_links(work, pairs, lambda doing: None, launcher), launcher.commands


def test_links_are_compared_in_pairs(tmp_path):
    """The ratio is the median of the pairs' ratios, the first link of each linker not counted."""
    found, commands = time_links(tmp_path, [(9, 9), (100, 10), (1000, 10), (10, 10)],
                                 [(99, 99), (110, 11), (1500, 11), (9, 11)], 3)
    assert found.time_ratio.estimate == pytest.approx(1.1)
    assert found.time_ratio.low < 0.9 and found.time_ratio.high > 1.5
    assert found.memory_ratio.estimate == pytest.approx(1.1)
    assert found.memory_ratio.low == pytest.approx(1.1)
    assert all(set(commands[i:i + 2]) == set(links.LINKERS) for i in range(0, 8, 2))
    assert commands[2:4] == commands[4:6][::-1]


def test_a_link_that_fails_is_an_error(tmp_path):
    """A failed link has no time."""
    with pytest.raises(Failure, match="the link exited with status 1: bad"):
        time_links(tmp_path, [(1, 1), (0, 1)], [(1, 1), (1, 1)], 1)


def test_a_whole_run_on_a_device(bench, workload):
    """Plain, throttled and warm runs of both variants are measured, judged and kept."""
    needs_device()
    process = bench()
    shown = finish(process)
    document = json.loads((workload.folder.parent / "work/small.result.json").read_text())
    assert document["schema"] == "frontload-bench/2"
    (measured,) = document["workloads"]
    assert measured["place"]["file_system"] == "ext4"
    assert measured["place"]["read_ahead_kib"] == cold_device.READ_AHEAD_KIB
    assert [variant["name"] for variant in measured["variants"]] == ["default", "other"]
    for variant in measured["variants"]:
        assert variant["size"] >= variant["cold"]["read_bytes"]["median"] > 4e6
        assert variant["read_pages"]
        assert variant["warm"]["read_bytes"]["median"] == 0
    assert [verdict["holds"] for verdict in measured["verdicts"]] == [True, None, True]
    assert "ok          default: 4." in shown
    assert "not judged  other: fewer major faults than absent" in shown
    if throttle.hierarchy(Path("/proc/self/mountinfo").read_text()):
        assert measured["missing"] == []
        assert (workload.folder / "runs").read_text() == "pp" + "pp" + "pp" + "tt"
        assert measured["variants"][0]["slow"]["read_bytes"]["median"] > 4e6
    assert left_behind(process, workload.folder.parent) == []


def test_a_figure_that_fails(bench, workload):
    """Exit 1 and a line if a required figure does not hold."""
    needs_device()
    workload(limit=1e6)
    assert "FAIL        default: 4." in finish(bench(), code=1)


def test_variants_must_do_the_same(here, workload):
    """A variant that writes another output than the others fails."""
    workload(other=1)
    shown = here(code=1)
    assert "FAIL        the program's output is identical in all variants" in shown


def test_without_a_device(here, workload):
    """What needs root is named as missing and not judged; the rest is measured."""
    workload(limit=1e6)
    shown = here()
    assert "missing: a device of its own: --no-device" in shown
    assert "missing: runs on a slow disk" in shown
    assert "not judged  default: MB read: at most 1.0" in shown
    document = json.loads((workload.folder.parent / "work/small.result.json").read_text())
    (measured,) = document["workloads"]
    assert measured["variants"][0]["cold"]["read_bytes"]["median"] > 4e6
    assert "not judged  " not in here("--no-verdict")


# 1: a warm-up run, the device is there. 7: after 2 warm-ups, 2 cold and 2 warm runs, throttled.
@pytest.mark.parametrize("number, run", [(signal.SIGINT, 1), (signal.SIGTERM, 7)])
def test_an_interrupted_run_leaves_nothing(bench, workload, number, run):
    """Ctrl-C and SIGTERM: the program, mount, loop device, cgroup and temporary files are gone."""
    needs_device()
    if run == 7 and not throttle.hierarchy(Path("/proc/self/mountinfo").read_text()):
        pytest.skip("no cgroup controller blkio or io is mounted")
    runs, folder = workload.folder / "runs", workload.folder.parent
    process = bench(HANG_AT=str(run))
    while not runs.exists() or runs.stat().st_size < run:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    finish(process, code=128 + number)
    assert left_behind(process, folder) == []


def left_behind(bench: subprocess.Popen, folder: Path) -> list[str]:
    """What a bench whose work and temporary files were in `folder` has not cleaned up."""
    found = [str(file) for file in Path("/sys/block").glob("loop*/loop/backing_file")
             if str(folder) in file.read_text()]
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines()
              if str(folder) in line]
    found += map(str, Path("/sys/fs/cgroup").glob(f"**/frontload-throttle.{bench.pid}"))
    found += map(str, folder.glob("frontload*"))
    found += [name for name in ("device", "device.img") if (folder / "work" / name).exists()]
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_text(errors="replace")
            if f"{folder}/work/" in command and process.name != str(os.getpid()):
                found.append(f"process {process.name}: {command}")
    return found


def test_an_unknown_workload_or_variant(here, workload):
    """A wrong name is refused with what there is to choose from."""
    with pytest.raises(Failure) as refusal:
        program.run(program.parse(["cc2"]))
    assert refusal.value.note.startswith("there are: cc1, cc1-heldout, cc1-library, ")
    with pytest.raises(Failure, match="none: no such variant") as refusal:
        here("--variants=default,none")
    assert refusal.value.note == "there are: default, other"


@pytest.mark.parametrize("option", ["--runs=0", "--runs=-1", "--runs=many", "--link-runs=0"])
def test_nothing_is_measured_less_than_once(option, capsys):
    with pytest.raises(SystemExit) as refusal:
        program.parse(["cc1", option])
    assert refusal.value.code == 2
    assert "is not a number from 1 up" in capsys.readouterr().err


RESULT = {"schema": "frontload-bench/2", "workloads": [{"name": "small", "variants": [
    {"name": "<default>", "size": 100_000, "page_size": 4096, "read_pages": "0+3 10+2",
     "cold": {"major_faults": {"median": 7}, "read_bytes": {"median": 20_480}}}]}]}


def test_the_picture(tmp_path):
    """A picture shows each variant with its figures; the same result gives the same bytes."""
    (tmp_path / "result.json").write_text(json.dumps(RESULT))
    drawn = []
    for name in ("one.svg", "two.svg"):
        assert picture.main([f"{tmp_path}/result.json", "-o", f"{tmp_path}/{name}"]) == 0
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert b"&lt;default&gt;" in drawn[0]
    assert b"7 faults, 0.0 MB" in drawn[0]
    (strip,) = picture.strips(RESULT["workloads"][0])
    assert strip["read"] == [(0, 3 * 4096), (10 * 4096, 2 * 4096)]


def test_the_picture_leaves_nothing_at_home(tmp_path):
    """matplotlib's files go elsewhere, and are removed."""
    (tmp_path / "result.json").write_text(json.dumps(RESULT))
    for folder in ("home", "tmp"):
        (tmp_path / folder).mkdir()
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MPL", "XDG_"))}
    subprocess.run([BENCH / "picture", tmp_path / "result.json", "-o", tmp_path / "x.svg"],
                   check=True, env={**environment, "HOME": str(tmp_path / "home"),
                                    "TMPDIR": str(tmp_path / "tmp")})
    assert list((tmp_path / "home").iterdir()) == list((tmp_path / "tmp").iterdir()) == []


def test_the_overhead_of_measuring(build, capsys, monkeypatch):
    """Pairs of runs alone and measured are compared; a command that fails is an error."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", "")  # to be put back afterwards
    options = ["--pairs=2", f"--build-dir={build}", "--"]
    assert overhead.main([*options, "true"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["time", "alone", "told", "around"]
    assert rows[1][2:4] == ["0.000", "(0.000"] and rows[1][6] == "1.0000"
    assert overhead.main(["--by=env A=1", *options, "sh", "-c", "test $A"]) == 1  # not alone
    assert overhead.main(["--by=env -u A", *options, "true"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["time", "alone", "around"]
    assert overhead.median(list(range(100))) == (49.5, 40, 60)
    assert overhead.main([*options, "false"]) == 1
    assert "error: false: failed" in capsys.readouterr().err


def test_the_cost_of_hooks(build, capsys, strace):
    """The table has what a call and a first touch cost; of the latter, the system calls are told,
    of which chunks of the trace add few."""
    assert hooks.main(["--rounds=2", f"--build-dir={build}"]) == 0
    rows = capsys.readouterr().out.splitlines()
    (calls,) = [row.split()[-1] for row in rows if row.startswith("system calls of a first touch")]
    assert 1 <= float(calls) < 1.01
    assert hooks.main([f"--build-dir={build}/none"]) == 1
    assert "error: cc: failed" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"schema": "frontload-measure/2"}', "[]"])
def test_no_picture_of_something_else(tmp_path, capsys, text):
    """A file that is no result of the bench is refused with exit 65, and nothing is written."""
    (tmp_path / "result.json").write_text(text)
    assert picture.main([f"{tmp_path}/result.json", "-o", f"{tmp_path}/x.svg"]) == 65
    assert capsys.readouterr().err.startswith(f"frontload: error: {tmp_path}/result.json: ")
    assert not (tmp_path / "x.svg").exists()


def test_who_calls_a_program_of_the_bench_keeps_his_signals(tmp_path):
    """As these tests do, which could not be interrupted otherwise."""
    before = signal.getsignal(signal.SIGINT)
    assert picture.main([f"{tmp_path}/no.json", "-o", f"{tmp_path}/x.svg"]) == 2
    assert signal.getsignal(signal.SIGINT) is before
