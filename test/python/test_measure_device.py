"""frontload measure on a device of its own, and that nothing of it stays."""

import json
import os
import select
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
    (tmp_path / "more/library.so").write_text("another file of the name")
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
    """Its files lie on a throttled loop device, under their own names; nothing of it stays."""
    process = start("--device=hdd", "--read-ahead=32", "--json=-", f"--evict={tmp_path}/data",
                    "--evict={}", f"--beside={tmp_path}/more")
    out, err = process.communicate()
    assert process.returncode == 0, err
    document = json.loads(out)
    assert (document["device"]["name"], document["device"]["iops"]) == ("hdd", 150)
    assert document["device"]["read_ahead_kib"] == 32
    assert document["device"]["copied"] == [
        str(tmp_path / name) for name in ("data", "link", "app/library.so", "more/library.so")]
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
def test_a_signal_leaves_nothing(start, tmp_path):
    """SIGTERM ends the program, and takes device and cgroup away."""
    process = start("--device=hdd", hangs=True)
    line_of(tmp_path / "fifo", process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate()
    assert process.returncode == 128 + signal.SIGTERM, err
    assert left_behind(process.pid, tmp_path) == []


@needs("loop-devices", "throttle", "program:setpriv")
def test_what_a_killed_measurement_leaves_the_next_one_removes(start, tmp_path):
    """Program, mounts and device end at once; folder and cgroup go with the next one."""
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


def test_a_device_that_cannot_be_had_is_refused(cli, tools, monkeypatch):
    """Without root, or where no cgroup can limit reads, with what can be done instead."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 1000)
        said = cli("measure", "--device=hdd", "--", "/bin/true", code=2).err
    assert "--device hdd: a loop device needs root" in said
    assert "note: measure as root (sudo), or measure without --device" in said
    monkeypatch.setattr(measure_device.cold_device, "obstacle", lambda file_system: None)
    monkeypatch.setattr(throttle, "hierarchy", lambda mounts: None)
    said = cli("measure", "--device=ssd", "--", "/bin/true", code=2).err
    assert "no cgroup controller blkio (version 1) or io (version 2)" in said
    assert "--device custom without limits" in said


def test_folders_are_copied_with_what_is_in_them(tmp_path):
    """--beside takes a folder, too; what is no file is left out, and each file is copied once."""
    (tmp_path / "folder/in").mkdir(parents=True)
    for name in ("folder/b", "folder/in/a", "program"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder/dangling").symlink_to("nowhere")
    variants = [Variant(name, ("x",), (f"{tmp_path}/program",)) for name in "ab"]
    assert measure_device.files_to_copy(variants, [f"{tmp_path}/folder"]) == [
        f"{tmp_path}/program", f"{tmp_path}/folder/b", f"{tmp_path}/folder/in/a"]


def test_a_folder_in_use_is_left_alone(tmp_path, monkeypatch):
    """A scratch folder whose owner was killed is removed by the next, a used one never."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "frontload-x.stale/folder").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    with scratch_folder("frontload-x.") as one:
        assert not (tmp_path / "frontload-x.stale").exists()
        with scratch_folder("frontload-x.") as two:
            assert one.is_dir() and two.is_dir() and one != two
        assert one.is_dir() and not two.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
