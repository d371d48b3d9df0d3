"""What a measurement depends on and does not control: kernel, processor, file system, readahead."""

import os
import platform
from pathlib import Path

from frontload import pagecache


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.machine()


def describe_host() -> dict:
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * pagecache.PAGE_SIZE,
        "page_size": pagecache.PAGE_SIZE,
    }


def read_ahead_kib(path: os.PathLike | str) -> int | None:
    """The readahead of the device a file is on; None where there is no such device."""
    device = os.stat(path).st_dev
    try:
        return int(Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
                   .read_text())
    except OSError:
        return None


def describe_file(path: os.PathLike | str) -> dict:
    return {
        "path": os.fspath(path),
        "size": os.stat(path).st_size,
        "file_system": pagecache.file_system(path),
        "read_ahead_kib": read_ahead_kib(path),
    }
