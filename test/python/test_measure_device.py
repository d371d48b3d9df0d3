"""frontload measure on a device of its own, and that nothing of it stays."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from frontload.base.scratch import scratch_folder
from frontload.cli import main as cli
from frontload.device import cold_device, throttle
from frontload.measure import on_device as measure_device
from frontload.measure.plan import Variant

# Reads its 4 MB of constants and a file, and notes who throttles it. Told to hang, it stays.
SOURCE = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int library(void);
__attribute__((section(".big"))) const char big[4 << 20] = {1};
int main(int argc, char **argv) {
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof big; i += 4096) sum += ((const volatile char *)big)[i];
  char groups[4096] = "", data[8] = "";
  FILE *group = fopen("/proc/self/cgroup", "r"), *input = fopen(argv[1], "r");
  if (!fread(groups, 1, sizeof groups - 1, group) || !input || !fread(data, 1, 4, input)) return 1;
  FILE *output = fopen(argv[2], "a");
  fprintf(output, "%d %s %s\n", getpid(), data,
          strstr(groups, "/frontload-throttle.") ? "slow" : "fast");
  if (fclose(output)) return 1;
  if (argc > 3) pause();
  return sum != library();
}
"""


@pytest.fixture
def needs_throttle():
    if obstacle := cold_device.obstacle():
        pytest.skip(obstacle)
    if throttle.hierarchy(Path("/proc/self/mountinfo").read_text()) is None:
        pytest.skip("no cgroup controller blkio or io is mounted")


@pytest.fixture
def program(tmp_path) -> Path:
    """A program with a library beside it, a file that it reads, and a link to it."""
    (tmp_path / "app").mkdir()
    (tmp_path / "program.c").write_text(SOURCE)
    (tmp_path / "library.c").write_text("int library(void) { return 1; }")
    for command in (["-shared", "-fPIC", "-o", "app/library.so", "library.c",
                     "-Wl,-soname=library.so"],
                    ["-O1", "-o", "app/program", "program.c", "app/library.so",
                     "-Wl,-rpath,$ORIGIN"]):
        subprocess.run(["cc", *command], cwd=tmp_path, check=True)
    (tmp_path / "data").write_text("text")
    (tmp_path / "more").mkdir()
    (tmp_path / "more/file").write_text("what else the program needs")
    (tmp_path / "link").symlink_to("app/program")
    return tmp_path / "link"


@pytest.fixture
def start(build, tmp_path, spawn):
    """start(*arguments): a started frontload measure."""
    (tmp_path / "tmp").mkdir()

    def start(*arguments):
        return spawn(build / "bin/frontload", "measure", *arguments,
                     env={**os.environ, "TMPDIR": str(tmp_path / "tmp")})

    return start


def left_behind(process: subprocess.Popen, folder: Path) -> list[str]:
    """What a measurement with its files in `folder` has not cleaned up."""
    found = [str(file) for file in Path("/sys/block").glob("loop*/loop/backing_file")
             if str(folder) in file.read_text()]
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines()
              if str(folder) in line]
    found += map(str, Path("/sys/fs/cgroup").glob(f"**/{throttle.PREFIX}{process.pid}"))
    found += map(str, folder.glob("tmp/*"))
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{folder}/link" in (entry / "cmdline").read_text(errors="replace"):
                found.append(f"process {entry.name}")
    return found


def test_a_program_is_measured_on_a_slow_device(start, program, tmp_path, needs_throttle):
    """Its files lie on a throttled loop device with the readahead that was asked for, where the
    program finds them under their own names; nothing of it stays."""
    process = start("--device=hdd", "--read-ahead=32", "--runs=1", "--warmup=0", "--json",
                    f"--evict={tmp_path}/data", "--evict={}", f"--with={tmp_path}/more", "--",
                    program, tmp_path / "data", tmp_path / "out")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    document = json.loads(out)
    assert (document["device"]["name"], document["device"]["iops"]) == ("hdd", 150)
    assert document["device"]["read_ahead_kib"] == 32
    assert document["device"]["copied"] == [
        f"{tmp_path}/data", str(program), f"{tmp_path}/app/library.so", f"{tmp_path}/more/file"]
    for file, path in zip(document["files"], (tmp_path / "data", program), strict=True):
        assert (file["path"], file["file_system"]) == (str(path), "ext4")
        assert file["device"]["number"] == document["device"]["number"]
        assert file["read_ahead_kib"] == 32
    cold, warm = (result["runs"][0] for result in document["results"])
    assert (cold["label"], warm["label"]) == ("selectively cold", "warm")
    assert sum(file["read_bytes"] for file in cold["files"].values()) > 4e6
    assert sum(file["read_bytes"] for file in warm["files"].values()) == 0
    assert [line.split()[1:] for line in (tmp_path / "out").read_text().splitlines()] == [
        ["text", "slow"]] * 2
    assert left_behind(process, tmp_path) == []


def test_a_custom_device_without_limits(start, program, tmp_path, needs_throttle):
    """A device of its own may also be as fast as memory."""
    process = start("--device=custom", "--selectively-cold", "--runs=1", "--warmup=0", "--",
                    program, tmp_path / "data", tmp_path / "out")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "as fast as memory" in out and "readahead 128 KiB" in out
    assert (tmp_path / "out").read_text().endswith(" text fast\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(start, program, tmp_path, needs_throttle, number):
    """Ctrl-C and SIGTERM end the program, and take device and cgroup away."""
    process = hang(start, program, tmp_path)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert left_behind(process, tmp_path) == []


def test_what_a_killed_measurement_leaves_the_next_one_removes(start, program, tmp_path,
                                                               needs_throttle):
    """After SIGKILL the program ends, with it its mounts and the device; folder and cgroup are
    removed by the next measurement."""
    if shutil.which("setpriv") is None:
        pytest.skip("without setpriv a program outlives a measurement that is killed")
    process = hang(start, program, tmp_path)
    process.kill()
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    try:
        while any("process" in left or "loop" in left for left in left_behind(process, tmp_path)):
            assert time.monotonic() < deadline, left_behind(process, tmp_path)
            time.sleep(0.02)
    finally:
        with suppress(ProcessLookupError):
            os.kill(int((tmp_path / "out").read_text().split()[0]), signal.SIGKILL)
    following = start("--device=hdd", "--runs=1", "--selectively-cold", "--warmup=0", "--",
                      program, tmp_path / "data", tmp_path / "out")
    _, err = following.communicate(timeout=60)
    assert following.returncode == 0, err
    assert left_behind(process, tmp_path) == left_behind(following, tmp_path) == []


def hang(start, program, tmp_path) -> subprocess.Popen:
    """A measurement whose program stays, once it does."""
    process = start("--device=hdd", "--", program, tmp_path / "data", tmp_path / "out", "hang")
    while not (tmp_path / "out").exists() or not (tmp_path / "out").read_text():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


@pytest.fixture
def measure(build, monkeypatch, capsys, tmp_path):
    """measure(*arguments): what is said of a measurement that is refused with exit 2."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", str(build / "bin"))

    def measure(*arguments) -> str:
        assert cli.main(["measure", *arguments, "--", shutil.which("true")]) == 2
        return capsys.readouterr().err

    return measure


def test_without_root_a_device_is_refused(measure, monkeypatch):
    """What is missing is said, with what would give it and what can be done without."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    said = measure("--device=hdd")
    assert "--device hdd: a loop device needs root" in said
    assert "note: measure as root (sudo), or measure without --device" in said


def test_without_a_throttle_a_slow_device_is_refused(measure, monkeypatch, needs_throttle):
    """Where no cgroup can limit reads, only a device without limits can be had."""
    monkeypatch.setattr(throttle, "hierarchy", lambda mounts: None)
    said = measure("--device=ssd")
    assert "no cgroup controller blkio (version 1) or io (version 2)" in said
    assert "--device custom without limits" in said


def test_folders_are_copied_with_what_is_in_them(tmp_path):
    """--with takes a folder, too; what is no file is left out, and each file is copied once."""
    (tmp_path / "folder/in").mkdir(parents=True)
    for name in ("folder/b", "folder/in/a", "program"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder/dangling").symlink_to("nowhere")
    variants = [Variant(name, ("x",), (f"{tmp_path}/program",)) for name in "ab"]
    assert measure_device.files_to_copy(variants, [f"{tmp_path}/folder"]) == [
        f"{tmp_path}/program", f"{tmp_path}/folder/b", f"{tmp_path}/folder/in/a"]


def test_a_folder_in_use_is_left_alone(tmp_path, monkeypatch):
    """A scratch folder is removed when it is left, by the next one if its owner was killed, and
    never while it is used."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "frontload-x.stale/folder").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    with scratch_folder("frontload-x.") as one:
        assert not (tmp_path / "frontload-x.stale").exists()
        with scratch_folder("frontload-x.") as two:
            assert one.is_dir() and two.is_dir() and one != two
        assert one.is_dir() and not two.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
