"""The kinds of devices that starts are measured on and predicted for.

A kind is not one product: it has the figures of an ordinary device of its sort. hdd is a slow disk,
the one on which the bench compares variants. The figures come from frontload-predict, so
predictions and measurements are for the same device.
"""

import functools
import json
import subprocess
from dataclasses import dataclass, replace
from typing import TypedDict

from frontload.base import tools
from frontload.base.errors import Failure
from frontload.device import image

KINDS = "hdd", "emmc", "ssd", "nfs"
CUSTOM = "custom"  # a device whose figures the user gives
LAZY = "lazy"  # no device, but a file system (lazy.py)


@dataclass(frozen=True)
class Device:
    """The figures of a device; None: as fast as the machine."""

    name: str
    iops: float | None  # requests per second, one at a time
    bytes_per_second: float | None
    read_ahead_kib: int
    description: str = ""
    latency_ms: int | None = None  # of each read from a server
    parallel: int | None = None  # simultaneous reads there
    image: str | None = None  # the compressed image (image.py) that files lie in there


PredictedDevice = TypedDict("PredictedDevice", {  # of `frontload-predict --list-devices`
    "name": str, "iops": float,
    "latency_seconds": float,  # until the first byte
    "bytes_per_second": float, "read_ahead_kib": int,
    "parallel": int,  # on how many requests it works at once
    "description": str})
_PREDICTED = "name", "iops", "bytes_per_second", "read_ahead_kib", "description"
# open_ctree() of fs/btrfs/disk-io.c, whatever the disk has.
BTRFS_READ_AHEAD_KIB = 4096
# Like a near registry: for lazily loaded images, eStargz and SOCI fetch in such times.
_LAZY = Device(LAZY, None, None, 128, "each read takes 5 ms, 64 at once", 5, 64)


@functools.cache
def known() -> tuple[Device, ...]:
    listed = subprocess.run([tools.tool("frontload-predict"), "--list-devices"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return tuple(Device(**{field: device[field] for field in _PREDICTED})
                 for device in json.loads(listed.stdout)["devices"])


def split(name: str) -> tuple[str, str | None]:
    """The kind of disk, and the image on it: hdd+squashfs:xz is ("hdd", "squashfs:xz"), and an
    image without a disk, ("", "squashfs:xz"), is as fast as memory."""
    disk, plus, rest = name.partition("+")
    if image.parse(rest if plus else name):
        return (disk, rest) if plus else ("", name)
    return name, None


def with_image(disk: Device | None, name: str, held: str) -> Device:
    """A disk, or memory, that has an image."""
    disk = disk or Device(name, None, None, 128, "memory")
    ahead = BTRFS_READ_AHEAD_KIB if held.startswith(image.BTRFS) else disk.read_ahead_kib
    return replace(disk, name=name, image=held, read_ahead_kib=ahead,
                   description=f"{disk.description}, read from {held}")


def describe(name: str, below: PredictedDevice) -> str:
    """What a predicted device with an image is."""
    disk, held = split(name)
    return f"{below['description'] if disk else 'memory'}, read from {held}"


def find(name: str) -> Device:
    for device in (*known(), _LAZY):
        if device.name == name:
            return device
    raise Failure(f"{name}: unknown kind of device",
                  note=f"there are: {', '.join(device.name for device in known())}")


def custom(iops: float | None, bytes_per_second: float | None, read_ahead_kib: int) -> Device:
    return Device(CUSTOM, iops, bytes_per_second, read_ahead_kib, "a device with the given figures")
