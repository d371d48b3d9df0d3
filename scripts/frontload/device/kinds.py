"""The kinds of devices that starts are measured on and predicted for.

A kind is not one product: it has the figures of an ordinary device of its sort. hdd is a slow disk,
the one on which the bench compares variants. The figures come from frontload-predict, so
predictions and measurements are for the same device.
"""

import functools
import json
import subprocess
from dataclasses import dataclass

from frontload.base import tools
from frontload.base.errors import Failure

KINDS = "hdd", "emmc", "ssd", "nfs"
CUSTOM = "custom"  # a device whose figures the user gives


@dataclass(frozen=True)
class Device:
    """The figures of a device; None is as fast as the machine is."""

    name: str
    iops: float | None  # requests per second, one at a time
    bytes_per_second: float | None
    read_ahead_kib: int
    description: str = ""


@functools.cache
def known() -> tuple[Device, ...]:
    listed = subprocess.run([tools.tool("frontload-predict"), "--list-devices", "--json"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    fields = Device.__dataclass_fields__
    return tuple(Device(**{field: device[field] for field in fields})
                 for device in json.loads(listed.stdout)["devices"])


def find(name: str) -> Device:
    for device in known():
        if device.name == name:
            return device
    raise Failure(f"{name}: unknown kind of device",
                  note=f"there are: {', '.join(device.name for device in known())}")


def custom(iops: float | None, bytes_per_second: float | None, read_ahead_kib: int) -> Device:
    return Device(CUSTOM, iops, bytes_per_second, read_ahead_kib, "a device with the given figures")
