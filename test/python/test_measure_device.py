"""frontload measure on a device of its own, and that nothing of it stays."""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from abilities import needs
from frontload.base.scratch import scratch_folder
from frontload.device import throttle
from frontload.measure import on_device as measure_device
from frontload.measure.plan import Variant
from measuring import left_behind, line_of

# Reads its 4 MB of constants and a file, and notes who throttles it. Told to hang, it stays, and
# writes its process id to a FIFO.
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
  fprintf(output, "%s %s\n", data,
          strstr(groups, "/frontload-throttle.") ? "slow" : "fast");
  if (fclose(output)) return 1;
  if (argc > 3) {
    FILE *fifo = fopen(argv[3], "w");
    fprintf(fifo, "%d\n", getpid());
    fclose(fifo);
    pause();
  }
  return sum != library();
}
"""


@pytest.fixture
def program(tmp_path) -> Path:
    """A link to a program with a library beside it, a file that it reads, and more files."""
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
def start(build, tmp_path, program, spawn):
    """start(*options, hangs=False): a started frontload measure of the program."""
    (tmp_path / "tmp").mkdir()
    os.mkfifo(tmp_path / "fifo")

    def start(*options, hangs=False) -> subprocess.Popen:
        return spawn(build / "bin/frontload", "measure", *options, "--runs=1", "--warmup=0", "--",
                     program, tmp_path / "data", tmp_path / "out",
                     *([tmp_path / "fifo"] if hangs else []),
                     env={**os.environ, "TMPDIR": str(tmp_path / "tmp")})

    return start


@needs("loop-devices", "throttle")
def test_a_program_is_measured_on_a_slow_device(start, program, tmp_path):
    """Its files lie on a throttled loop device with the readahead that was asked for, where the
    program finds them under their own names; nothing of it stays."""
    process = start("--device=hdd", "--read-ahead=32", "--json", f"--evict={tmp_path}/data",
                    "--evict={}", f"--with={tmp_path}/more")
    out, err = process.communicate()
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
    assert (tmp_path / "out").read_text() == "text slow\n" * 2
    assert left_behind(process.pid, tmp_path) == []


@needs("loop-devices")
def test_a_custom_device_without_limits(start, tmp_path):
    """A device of its own may also be as fast as memory."""
    process = start("--device=custom", "--selectively-cold")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "as fast as memory" in out and "readahead 128 KiB" in out
    assert (tmp_path / "out").read_text() == "text fast\n"


@needs("loop-devices", "throttle")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(start, tmp_path, number):
    """Ctrl-C and SIGTERM end the program, and take device and cgroup away."""
    process = start("--device=hdd", hangs=True)
    line_of(tmp_path / "fifo", process)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 128 + number, err
    assert left_behind(process.pid, tmp_path) == []


@needs("loop-devices", "throttle", "program:setpriv")
def test_what_a_killed_measurement_leaves_the_next_one_removes(start, tmp_path):
    """After SIGKILL the program ends, with it its mounts and the device; folder and cgroup are
    removed by the next measurement."""
    process = start("--device=hdd", hangs=True)
    end = os.pidfd_open(int(line_of(tmp_path / "fifo", process)))
    try:
        process.kill()
        select.select([end], [], [])
        process.communicate()
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(end, signal.SIGKILL)
        os.close(end)
    # The kernel gives a device back in its own time, and tells nobody.
    while any("/sys/block" in left for left in left_behind(process.pid, tmp_path)):
        time.sleep(0.02)
    following = start("--device=hdd", "--selectively-cold")
    _, err = following.communicate()
    assert following.returncode == 0, err
    assert left_behind(process.pid, tmp_path) == left_behind(following.pid, tmp_path) == []


@pytest.fixture
def refused(cli, tools):
    """refused(*arguments): what is said of a measurement that is refused with exit 2."""
    return lambda *arguments: cli("measure", *arguments, "--", shutil.which("true"), code=2).err


def test_without_root_a_device_is_refused(refused, monkeypatch):
    """What is missing is said, with what would give it and what can be done without."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    said = refused("--device=hdd")
    assert "--device hdd: a loop device needs root" in said
    assert "note: measure as root (sudo), or measure without --device" in said


def test_without_a_throttle_a_slow_device_is_refused(refused, monkeypatch):
    """Where no cgroup can limit reads, only a device without limits can be had."""
    monkeypatch.setattr(measure_device.cold_device, "obstacle", lambda file_system: None)
    monkeypatch.setattr(throttle, "hierarchy", lambda mounts: None)
    said = refused("--device=ssd")
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
