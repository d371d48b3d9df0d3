"""Conditions that a measurement does not control: kernel, processor and its frequency, file system,
device, readahead."""

import os
import platform
import re
from pathlib import Path

from frontload.pagecache import mounts
from frontload.pagecache.kernel import PAGE_SIZE


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.machine()


_CPUS = Path("/sys/devices/system/cpu")
_BLOCK = Path("/sys/dev/block")


def describe_frequency() -> dict | None:
    """The processors' current frequencies, and their governors; None where nothing reports them.

    {"source", "mhz": [least, most], "governors", "limits_mhz": [least, most] | None}
    """
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


def describe_host() -> dict:
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


def describe_device(path: os.PathLike[str] | str) -> dict | None:
    """The block device that a file is on; None for a file system that has none of its own.

    {"number", "name", "rotational": bool, "scheduler"}; None where the kernel reports nothing.
    """
    number = os.stat(path).st_dev
    if os.major(number) == 0:
        # File systems of several volumes, such as btrfs, have their own numbers.
        source = mounts.mount_source(path)
        if not source.startswith("/dev/") or not os.path.exists(source):
            return None
        number = os.stat(source).st_rdev
    return _describe_device(number)


def _describe_device(number: int) -> dict:
    place = f"{os.major(number)}:{os.minor(number)}"
    device = (_BLOCK / place).resolve()
    # A partition has its disk's queue.
    queue = device / "queue" if (device / "queue").exists() else device.parent / "queue"
    rotational = _number(queue / "rotational")
    scheduler = re.search(r"\[(.*?)\]", _text(queue / "scheduler") or "")
    return {"number": place, "name": device.name if device.parent != _BLOCK else None,
            "rotational": None if rotational is None else bool(rotational),
            "scheduler": scheduler and scheduler[1]}


def describe_file(path: os.PathLike[str] | str) -> dict:
    return {
        "path": os.fspath(path),
        "size": os.stat(path).st_size,
        "file_system": mounts.file_system(path),
        "read_ahead_kib": read_ahead_kib(path),
        "device": describe_device(path),
    }
