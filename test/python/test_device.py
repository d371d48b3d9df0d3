"""The measured files' own device: where files lie on it, and how the kernel slows it down."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from frontload.base.errors import Failure
from frontload.device import cold_device, covering, lazy, throttle
from frontload.device import kinds as devices
from frontload.device.throttle import Throttle
from frontload.measure import launcher
from frontload.measure.launcher import RestedLauncher

# In a process of its own, which gets the private mounts. argv: the folder, readahead, the files.
IN_A_DEVICE = """
import json, os, sys
from pathlib import Path
from frontload.base.errors import Failure
from frontload.device.cold_device import ColdDevice
from frontload.machine import host as measure_host
folder, ahead, *files = sys.argv[1:]
try:
    with ColdDevice(Path(folder), map(Path, files), read_ahead_kib=int(ahead)) as device:
        copies = [device.place(file) for file in files]
        print(json.dumps({
            "mounted": str(device.mounted), "ahead": measure_host.read_ahead_kib(device.mounted),
            "copies": list(map(str, copies)), "texts": [copy.read_text() for copy in copies],
            "real": [os.path.realpath(copy) for copy in copies]}))
except (Failure, OSError) as problem:
    sys.exit(f"no cold device: {problem}")
"""


@pytest.fixture
def on_device(tmp_path):
    """on_device(*files, ahead=64): what a device with these files shows."""
    if obstacle := cold_device.obstacle():
        pytest.skip(obstacle)
    folder = tmp_path / "work"
    folder.mkdir()

    def on_device(*files, ahead=64) -> dict:
        result = subprocess.run(
            [sys.executable, "-c", IN_A_DEVICE, folder, str(ahead), *files], text=True,
            capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        if result.stderr.startswith("no cold device"):
            pytest.skip(result.stderr.strip())
        assert result.returncode == 0, result.stderr
        assert list(folder.iterdir()) == []
        return json.loads(result.stdout)

    return on_device


def test_copies_lie_to_each_other_as_the_files_do(on_device, tmp_path):
    """Files of several folders keep their places below the folder that they have in common, so
    that two of one name do not meet, and a library is where $ORIGIN leads to."""
    for name in ("app/bin/program", "app/lib/library", "other/bin/program"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
    files = [tmp_path / name for name in ("app/bin/program", "app/lib/library",
                                          "other/bin/program")]
    seen = on_device(*files)
    assert seen["texts"] == ["app/bin/program", "app/lib/library", "other/bin/program"]
    assert [os.path.relpath(copy, seen["mounted"]) for copy in seen["copies"]] == seen["texts"]


def test_a_link_stays_a_link(on_device, tmp_path):
    """A program that is run by a link finds itself, and its libraries, where it really is."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/program").write_text("text")
    (tmp_path / "link").symlink_to("real/program")
    seen = on_device(tmp_path / "link")
    assert seen["copies"] == [f"{seen['mounted']}/link"]
    assert seen["real"] == [f"{seen['mounted']}/real/program"]


def test_the_device_has_the_readahead_that_was_asked_for(on_device, tmp_path):
    """Readahead is a setting of the device, not of the machine."""
    (tmp_path / "file").write_text("text")
    assert on_device(tmp_path / "file", ahead=32)["ahead"] == 32


def test_kinds_of_devices(tools):
    """The slow disk is the bench's; a kind that is not known is refused with those that are."""
    assert (devices.find("hdd").iops, devices.find("hdd").bytes_per_second) == (150, 80e6)
    with pytest.raises(Failure, match="floppy: unknown kind of device") as refusal:
        devices.find("floppy")
    assert refusal.value.note == "there are: hdd, emmc, ssd, nfs"


@pytest.mark.parametrize("point, found", [("/", True), ("/proc", False)])
def test_a_root_that_is_no_mount_point_is_known(point, found):
    """In a plain chroot mounts cannot be made private, so there is no device."""
    assert covering.root_is_mount_point(f"24 1 254:0 / {point} rw - ext4 /dev/vda rw\n") == found


MOUNTS = """
24 1 254:0 / / rw,relatime - ext4 /dev/vda rw
29 28 0:26 / {v2} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
30 28 0:27 / {v1} rw - cgroup cgroup rw,cpu,blkio
""".strip()


@pytest.mark.parametrize("controllers, mounts, expected", [
    ("cpu io memory", 2, (2, "v2")), ("cpu memory", 3, (1, "v1")), ("cpu memory", 2, None)])
def test_the_throttle_is_found(tmp_path, controllers, mounts, expected):
    """Whichever version of cgroups has the controller for block devices is used."""
    (tmp_path / "cgroup.controllers").write_text(controllers)
    text = MOUNTS.format(v1="/v1", v2=tmp_path)
    found = throttle.hierarchy("\n".join(text.splitlines()[:mounts]))
    assert found == (expected and (expected[0], tmp_path if expected[1] == "v2" else Path("/v1")))


def test_throttle_version_2(tmp_path, monkeypatch):
    """io.max gets both limits; the controller is enabled if it was not, and only then disabled."""
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)  # a real cgroup's files vanish with it
    control = tmp_path / "cgroup.subtree_control"
    for before, after in (("cpu\n", "-io"), ("cpu io\n", "cpu io\n")):
        control.write_text(before)
        with Throttle(2, tmp_path, "7:1", iops=150, bytes_per_second=80e6) as limited:
            assert (limited.folder / "io.max").read_text() == "7:1 rbps=80000000 riops=150"
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


@pytest.mark.parametrize("version, iops, bandwidth, limits", [
    (1, 20, None, {"blkio.throttle.read_iops_device": "7:1 20"}),
    (2, None, 2e7, {"io.max": "7:1 rbps=20000000"}),
    (2, 1e12, None, {"io.max": "7:1 riops=4294967295"})])
def test_one_limit_alone(version, iops, bandwidth, limits):
    """What is not limited is not mentioned, and no limit is more than the kernel keeps."""
    slow = Throttle(version, Path("/x"), "7:1", iops=iops, bytes_per_second=bandwidth)
    assert slow._limits() == limits


def test_a_throttle_that_cannot_be_set_leaves_nothing(tmp_path, monkeypatch):
    """If the kernel refuses the limits, the cgroup is removed again."""
    def refuse(path, text, encoding):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(OSError), Throttle(
            1, tmp_path, "7:1", iops=1, bytes_per_second=1):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_throttled_start_has_a_whole_budget(monkeypatch):
    """Before each throttled start the device rests, so that none pays for the one before it."""
    done = []
    monkeypatch.setattr(launcher.time, "sleep", done.append)
    monkeypatch.setattr(launcher.Launcher, "__init__", lambda self: None)
    monkeypatch.setattr(launcher.Launcher, "run", lambda self, command: done.append(command))
    RestedLauncher().run("start")
    assert done == [throttle.PAUSE_SECONDS, "start"]


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
    print(json.dumps({"first": first.decode(), "cold": cold, "number": lazy.number,
                      "resident": cache.residency(file).resident_pages,
                      "readable": os.stat(file).st_dev == os.stat(lazy.place(file)).st_dev}))
"""


def test_lazy_files_take_their_time(tools, tmp_path):
    """A read takes as long as was said, and what has been read stays; nothing is left behind."""
    if obstacle := lazy.obstacle():
        pytest.skip(obstacle)
    (tmp_path / "file").write_text("0123456789" * 100000)
    (tmp_path / "work").mkdir()
    result = subprocess.run(
        [sys.executable, "-c", IN_LAZY_FILES, tmp_path / "work", tmp_path / "file"], text=True,
        capture_output=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["first"] == "0123456789" and found["readable"] and found["resident"] == 1
    assert found["cold"] >= 0.02  # the latency of one read is a least
    assert list((tmp_path / "work").iterdir()) == []
    assert "lazyfs" not in Path("/proc/self/mounts").read_text()
    (tmp_path / "file").read_text()


def test_measure_on_lazy_files(frontload, tools, tmp_path):
    """Each major fault is a read from far away."""
    if obstacle := lazy.obstacle():
        pytest.skip(obstacle)
    shutil.copy("/bin/true", tmp_path / "app")
    frontload("measure", "--selectively-cold", "--runs", "2", "--device", "lazy", "--json",
              tmp_path / "result.json", "--", tmp_path / "app")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["device"]["name"] == "lazy" and result["device"]["latency_ms"] == 5
    (found,) = result["results"]
    assert found["figures"]["major_faults"]["median"] > 0


# A list of the second file's pages 20 to 29, asked for from cold, in an image's file system.
IN_AN_IMAGE = """
import json, os, subprocess, sys
from pathlib import Path
from frontload.base.errors import Failure
from frontload.device.cold_device import ColdDevice
from frontload.pagecache import cache as pagecache
from frontload.reading import listing
from frontload.reading.listing import MAP, File, ReadingList, Touch
folder, system, run, *files = sys.argv[1:]
try:
    with ColdDevice(Path(folder), map(Path, files), file_system=system) as device:
        device.cover()
        status = os.stat(files[1])
        text = Path(folder) / "app.files"
        text.write_bytes(listing.to_bytes(ReadingList(1, {
            File(files[1], status.st_size, status.st_mtime_ns): {
                page: Touch(page, 1, MAP) for page in range(20, 30)}})))
        found = []
        for warm in (False, True):
            pagecache.make_warm(files[1]) if warm else pagecache.make_cold(*files)
            said = subprocess.run([run, "--verbose", "--device=lazy", f"--files={text}", "--",
                                   "true"], capture_output=True, text=True).stderr
            pagecache.settle(files[1])
            found.append([pagecache.residency(files[1]).pages.nonzero()[0].tolist(), said])
        text.unlink()
        print(json.dumps({"found": found, "number": device.number,
                          "text": Path(files[0]).read_text()}))
except (Failure, OSError) as problem:
    sys.exit(f"no cold device: {problem}")
"""


@pytest.mark.parametrize("file_system", cold_device.FILE_SYSTEMS)
def test_lists_work_in_images(build, tmp_path, file_system):
    """Also where a file's pages are those of a file below, and where nothing can be written."""
    if obstacle := cold_device.obstacle(file_system):
        pytest.skip(obstacle)
    files = [tmp_path / name for name in ("text", "pages", "link")]
    files[0].write_text("as it was")
    files[1].write_bytes(os.urandom(100 * 4096))
    files[2].symlink_to(files[1])
    (tmp_path / "work").mkdir()
    for _ in range(3):  # the kernel may page out what was just read (DAMON)
        result = subprocess.run(
            [sys.executable, "-c", IN_AN_IMAGE, tmp_path / "work", file_system,
             build / "bin/frontload-run", *files], text=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        if result.stderr.startswith("no cold device"):
            pytest.skip(result.stderr.strip())
        assert result.returncode == 0, result.stderr
        document = json.loads(result.stdout)
        assert document["text"] == "as it was" and document["number"].startswith("7:")
        (cold, said), (warm, _) = document["found"]
        assert "0 files have changed" in said
        assert list((tmp_path / "work").iterdir()) == []
        if (cold, warm) == (list(range(20, 30)), list(range(100))):
            return
    pytest.fail(f"cold {cold}, warm {warm}")
