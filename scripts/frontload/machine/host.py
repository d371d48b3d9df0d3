"""Conditions that a measurement does not control: kernel, processor and its frequency, file system,
device, readahead."""

import os
import platform
import re
from pathlib import Path
from typing import TypedDict

from frontload.pagecache import mounts
from frontload.pagecache.kernel import PAGE_SIZE

Frequency = TypedDict("Frequency", {
    "source": str,  # cpufreq, or /proc/cpuinfo
    "mhz": list[float] | None,  # now: the least and the most of all processors
    "governors": list[str], "limits_mhz": list[float] | None})
Host = TypedDict("Host", {
    "kernel": str, "machine": str, "processor": str,
    "processors": int,  # on which this process may run
    "memory_bytes": int, "page_size": int,
    "frequency": Frequency | None})  # null: nothing reports it
BlockDevice = TypedDict("BlockDevice", {
    "number": str,  # 7:1
    "name": str | None, "rotational": bool | None, "scheduler": str | None})
Place = TypedDict("Place", {  # of a file
    "path": str, "size": int, "file_system": str, "read_ahead_kib": int | None,
    "device": BlockDevice | None})  # null: the file system has none of its own


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.machine()


_CPUS = Path("/sys/devices/system/cpu")
_BLOCK = Path("/sys/dev/block")


def describe_frequency() -> Frequency | None:
    policies = sorted(_CPUS.glob("cpufreq/policy*"))
    if policies:
        current, least, most = (
            [value / 1000 for value in map(_number, (policy / name for policy in policies))
             if value is not None]
            for name in ("scaling_cur_freq", "scaling_min_freq", "scaling_max_freq"))
        governors = sorted({governor for policy in policies
                            if (governor := _text(policy / "scaling_governor"))})
        return {"source": "cpufreq", "mhz": _range(current), "governors": governors,
                "limits_mhz": _range(least + most)}
    current = [float(line.partition(":")[2])
               for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
               if line.startswith("cpu MHz")]
    if not current:
        return None
    return {"source": "/proc/cpuinfo", "mhz": _range(current), "governors": [],
            "limits_mhz": None}


def _range(values: list[float]) -> list[float] | None:
    return [min(values), max(values)] if values else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text and text.isdecimal() else None


def describe_host() -> Host:
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * PAGE_SIZE,
        "page_size": PAGE_SIZE,
        "frequency": describe_frequency(),
    }


def read_ahead_kib(path: os.PathLike[str] | str) -> int | None:
    """The readahead of the device a file is on; None where there is no such device."""
    device = os.stat(path).st_dev
    return _number(Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb"))


def describe_device(path: os.PathLike[str] | str) -> BlockDevice | None:
    """The block device that a file is on."""
    number = os.stat(path).st_dev
    if os.major(number) == 0:
        # File systems of several volumes, such as btrfs, have their own numbers.
        source = mounts.mount_source(path)
        if not source.startswith("/dev/") or not os.path.exists(source):
            return None
        number = os.stat(source).st_rdev
    return _describe_device(number)


def _describe_device(number: int) -> BlockDevice:
    place = f"{os.major(number)}:{os.minor(number)}"
    device = (_BLOCK / place).resolve()
    # A partition has its disk's queue.
    queue = device / "queue" if (device / "queue").exists() else device.parent / "queue"
    rotational = _number(queue / "rotational")
    scheduler = re.search(r"\[(.*?)\]", _text(queue / "scheduler") or "")
    return {"number": place, "name": device.name if device.parent != _BLOCK else None,
            "rotational": None if rotational is None else bool(rotational),
            "scheduler": scheduler and scheduler[1]}


def describe_file(path: os.PathLike[str] | str) -> Place:
    return {
        "path": os.fspath(path),
        "size": os.stat(path).st_size,
        "file_system": mounts.file_system(path),
        "read_ahead_kib": read_ahead_kib(path),
        "device": describe_device(path),
    }
