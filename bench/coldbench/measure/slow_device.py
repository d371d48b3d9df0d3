"""The slow device: its limits, and its time for the reads of a start.

The kernel's throttle lets the budget of its first 0.1 s through at once: 15 requests and 8 MB,
which is the whole start of a small program. A disk does not do that.
"""

from frontload.device import kinds
from frontload.device.kinds import Device

NAME = "hdd"
# The time before the throttle of a start begins (frontload/device/throttle.py).
FIRST_SLICE_SECONDS = 0.1


def device() -> Device:
    return kinds.find(NAME)


def limits() -> dict:
    """Its figures, for JSON."""
    slow = device()
    return {"device": slow.name, "iops": slow.iops, "bytes_per_second": slow.bytes_per_second}


def seconds(requests: float, read_bytes: float) -> float:
    """The device's time at its pace: requests and bytes are handed out side by side."""
    slow = device()
    return max(requests / slow.iops, read_bytes / slow.bytes_per_second)
