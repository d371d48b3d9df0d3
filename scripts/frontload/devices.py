"""The kinds of devices that starts are measured on and predicted for.

A kind is not one product: it has the figures of an ordinary device of its sort. hdd is a slow disk,
the one that the bench compares variants on.
"""

from dataclasses import dataclass

from frontload.errors import Failure

CUSTOM = "custom"  # a device whose figures the user gives


@dataclass(frozen=True)
class Device:
    name: str
    iops: float  # requests per second, one at a time
    bytes_per_second: float
    read_ahead_kib: int
    description: str = ""


_DEVICES = (
    Device("hdd", 150, 80e6, 128, "a 5400 rpm disk"),
    Device("emmc", 5000, 250e6, 128, "eMMC 5.1, HS400"),
    Device("ssd", 19000, 2.6e9, 128, "NVMe, PCIe 3 x4"),
    Device("nfs", 2000, 118e6, 128, "1 Gbit/s Ethernet to a server that has the file in memory"),
)


def known() -> tuple[Device, ...]:
    return _DEVICES


def find(name: str) -> Device:
    for device in known():
        if device.name == name:
            return device
    raise Failure(f"{name}: no such kind of device",
                  note=f"there are: {', '.join(device.name for device in known())}")
