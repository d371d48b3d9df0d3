"""The measured files' own device: where files lie on it, and how the kernel slows it down."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from abilities import need, needs
from frontload.base.errors import Failure
from frontload.device import cold_device, covering, throttle
from frontload.device import kinds as devices
from frontload.device.throttle import Throttle
from frontload.measure import launcher
from frontload.measure.launcher import Launcher


@pytest.fixture
def apart(tmp_path, tools, run):
    """apart(script, *arguments): what a process with private mounts says of an empty folder."""
    def apart(script: str, *arguments) -> dict:
        folder = tmp_path / "work"
        folder.mkdir()
        ran = run(sys.executable, "-c", script, folder, *arguments,
                  env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
        assert list(folder.iterdir()) == []
        return json.loads(ran.stdout)

    return apart


def test_kinds_of_devices(tools):
    """The slow disk is the bench's; a kind that is not known is refused with those that are."""
    hdd = devices.find("hdd")
    assert (hdd.iops, hdd.bytes_per_second, hdd.read_ahead_kib) == (150, 80e6, 128)
    with pytest.raises(Failure, match="floppy: unknown kind of device") as refusal:
        devices.find("floppy")
    assert refusal.value.note == "there are: hdd, emmc, ssd, nfs"


@pytest.mark.parametrize("point, found", [("/", True), ("/proc", False)])
def test_a_root_that_is_no_mount_point_is_known(point, found):
    """In a plain chroot mounts cannot be made private, so there is no device."""
    assert covering.root_is_mount_point(f"24 1 254:0 / {point} rw - ext4 /dev/vda rw\n") == found


MOUNTS = """
24 1 254:0 / / rw,relatime - ext4 /dev/vda rw
29 28 0:26 / {0}/v2 rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
30 28 0:27 / {0}/v1 rw - cgroup cgroup rw,cpu,blkio
""".strip()


@pytest.mark.parametrize("controllers, folders, version", [
    ("cpu io memory", ("v1", "v2"), 2), ("cpu memory", ("v1", "v2"), 1),
    ("cpu memory", ("v2",), None)])
def test_the_throttle_is_found(tmp_path, controllers, folders, version):
    """Whichever version of cgroups has the controller for block devices, and may be written to."""
    for folder in folders:
        (tmp_path / folder).mkdir()
    (tmp_path / "v2/cgroup.controllers").write_text(controllers)
    found = throttle.hierarchy(MOUNTS.format(tmp_path))
    assert found == (version and (version, tmp_path / f"v{version}"))


def test_throttle_version_2(tmp_path, monkeypatch):
    """io.max gets both limits; the controller is enabled if it was not, and only then disabled."""
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)  # a real cgroup's files vanish with it
    control = tmp_path / "cgroup.subtree_control"
    # What is not limited is not mentioned, and no limit is more than the kernel keeps.
    for before, after, iops, bandwidth, limits in (
            ("cpu\n", "-io", 150, 80e6, "rbps=80000000 riops=150"),
            ("cpu io\n", "cpu io\n", 1e12, None, "riops=4294967295")):
        control.write_text(before)
        with Throttle(2, tmp_path, "7:1", iops=iops, bytes_per_second=bandwidth) as limited:
            assert (limited.folder / "io.max").read_text() == f"7:1 {limits}"
            assert "io" in control.read_text()
        assert control.read_text() == after
        assert not limited.folder.exists()


def test_throttle_version_1(tmp_path, monkeypatch):
    """blkio has a file for each limit; what a killed run left is removed, a living one's not."""
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    dead, living = (tmp_path / f"frontload-throttle.{pid}" for pid in (1 << 30, 1))
    dead.mkdir()
    living.mkdir()
    with Throttle(1, tmp_path, "7:1", iops=150, bytes_per_second=80e6) as limited:
        assert {file.name: file.read_text() for file in limited.folder.iterdir()} == {
            "blkio.throttle.read_iops_device": "7:1 150",
            "blkio.throttle.read_bps_device": "7:1 80000000"}
    assert list(tmp_path.iterdir()) == [living]
    alone = Throttle(1, tmp_path, "7:1", iops=20, bytes_per_second=None)
    assert alone._limits() == {"blkio.throttle.read_iops_device": "7:1 20"}


@needs("throttle")
def test_a_process_outlives_its_throttle():
    """A command may leave a process behind, such as one that watches its start."""
    version, parent = throttle.hierarchy(Path("/proc/self/mountinfo").read_text())
    with subprocess.Popen(["sleep", "60"]) as left:
        with Throttle(version, parent, "7:0", iops=150, bytes_per_second=None) as limited:
            (limited.folder / "cgroup.procs").write_text(str(left.pid))
        assert not limited.folder.exists() and left.poll() is None
        left.kill()


def test_a_throttle_that_cannot_be_set_leaves_nothing(tmp_path, monkeypatch):
    """If the kernel refuses the limits, the cgroup is removed again."""
    def refuse(path, text, encoding):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(OSError), Throttle(1, tmp_path, "7:1", iops=1, bytes_per_second=1):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_throttled_start_has_a_whole_budget(monkeypatch, tools, tmp_path):
    """Before each throttled start the device rests, so that none pays for the one before it."""
    done = []

    class Started(Exception):
        pass

    def start(self, command):
        done.append(command)
        raise Started

    monkeypatch.setattr(launcher.time, "sleep", done.append)
    monkeypatch.setattr(Launcher, "learn", start)
    with pytest.raises(Started):
        Launcher(tmp_path).run(["start"])
    assert done == [throttle.PAUSE_SECONDS, ["start"]]


# argv: the folder, the file.
IN_LAZY_FILES = """
import json, os, sys, time
from pathlib import Path
from frontload.device.lazy import LazyFiles
from frontload.pagecache import cache
folder, file = sys.argv[1:]
with LazyFiles(Path(folder), [Path(file)], latency_ms=20, parallel=4, read_ahead_kib=0) as lazy:
    lazy.cover()
    cache.try_to_drop(file)
    begin = time.monotonic()
    with open(file, "rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        first = os.pread(stream.fileno(), 10, 4096 * 50)
    cold = time.monotonic() - begin
    print(json.dumps({"first": first.decode(), "cold": cold,
                      "resident": cache.residency(file).resident_pages,
                      "readable": os.stat(file).st_dev == os.stat(lazy.place(file)).st_dev}))
"""


@needs("lazy-files")
def test_lazy_files_take_their_time(apart, tmp_path):
    """A read takes as long as was said, and reads no more; nothing is left behind."""
    (tmp_path / "file").write_text("0123456789" * 100000)
    found = apart(IN_LAZY_FILES, tmp_path / "file")
    assert found["first"] == "0123456789" and found["readable"] and found["resident"] <= 1
    assert found["cold"] >= 0.02  # the latency of one read is a least
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


@needs("lazy-files")
def test_measure_on_lazy_files(frontload, tools, tmp_path):
    """Each major fault is a read from far away."""
    shutil.copy("/bin/true", tmp_path / "app")
    result = json.loads(frontload("measure", "--selectively-cold", "--runs", "2", "--device",
                                  "lazy", "--json=-", "--", tmp_path / "app").stdout)
    assert result["device"]["name"] == "lazy" and result["device"]["latency_ms"] == 5
    (found,) = result["results"]
    assert found["figures"]["major_faults"]["median"] > 0


# A list of 2,000 pages of the first file, asked for in an image's file system, cold and then held
# in memory: what is said of that, and how many pages are read from the device. argv: the folder,
# the file system, frontload-run, the files.
IN_AN_IMAGE = """
import ctypes, json, mmap, os, subprocess, sys
from pathlib import Path
from frontload.device.cold_device import ColdDevice
from frontload.pagecache import cache as pagecache
from frontload.reading import listing
from frontload.reading.listing import MAP, File, PrefetchList, Touch
folder, system, run, *files = sys.argv[1:]
with ColdDevice(Path(folder), map(Path, files), file_system=system) as device:
    device.cover()
    status = os.stat(files[0])
    text = Path(folder) / "app.files"
    text.write_bytes(listing.to_bytes(PrefetchList(1, {
        File(files[0], status.st_size, status.st_mtime_ns): {
            page: Touch(page, 1, MAP) for page in range(200, 2200)}})))
    def read():
        return int(Path(f"/sys/dev/block/{device.number}/stat").read_text().split()[2]) // 8
    def ask():
        before = read()
        said = subprocess.run([run, "--verbose", "--device=lazy", f"--files={text}", "--", "true"],
                              capture_output=True, text=True).stderr
        pagecache.settle(files[0])
        return said, read() - before
    pagecache.make_cold(*files)
    cold = ask()
    assert ctypes.CDLL(None).mlockall(2) == 0  # whatever is mapped from now on
    with open(files[0], "rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ):
        warm = ask()
    text.unlink()
    print(json.dumps([*cold, *warm]))
"""


@pytest.mark.parametrize("file_system", cold_device.FILE_SYSTEMS)
@needs("loop-devices")
def test_lists_work_in_images(apart, build, tmp_path, file_system):
    """Also where a file's pages are those of a file below, and where nothing can be written."""
    if file_system == cold_device.EROFS:
        need("image:erofs")
    (tmp_path / "pages").write_bytes(os.urandom(3000 * 4096))
    (tmp_path / "link").symlink_to("pages")
    cold, pages, warm, more = apart(IN_AN_IMAGE, file_system, build / "bin/frontload-run",
                                    tmp_path / "pages", tmp_path / "link")
    assert "8.2 MB of 1 files are asked for, 0.0 MB are in memory already" in cold
    assert "0 files have changed" in cold and 2000 <= pages < 2500
    assert "0 files have changed" in warm and more < 100
