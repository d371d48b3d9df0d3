"""How many requests a start made of a device, by the kernel's own count, and the time of the slow
device for them.

The device is ours alone, so all its reads during a start were for the start, even those that the
start did not wait for. The kernel's throttle lets the budget of its first 0.1 s through at once: 15
requests and 8 MB, which is the whole start of a small program. A disk does not do that.
"""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from frontload.base.ready import Ready
from frontload.device import kinds
from frontload.device.kinds import Device
from frontload.measure.launcher import Launcher, Sample

SLOW = "hdd"
# The time before the throttle of a start begins (frontload/device/throttle.py).
FIRST_SLICE_SECONDS = 0.1
SECTOR = 512
_POLL_SECONDS = 0.002
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Requests:
    reads: int
    bytes: int

    def __sub__(self, before: "Requests") -> "Requests":
        return Requests(self.reads - before.reads, self.bytes - before.bytes)


def parse(stat: str) -> tuple[Requests, int]:
    """The reads so far, and how many requests are under way, from a device's stat file."""
    fields = [int(field) for field in stat.split()]
    return Requests(fields[0], fields[2] * SECTOR), fields[8]


def slow_device() -> Device:
    return kinds.find(SLOW)


def slow_seconds(requests: float, read_bytes: float) -> float:
    """The slow device's time at its pace: requests and bytes are handed out side by side."""
    slow = slow_device()
    return max(requests / slow.iops, read_bytes / slow.bytes_per_second)


class CountingLauncher(Launcher):
    """Runs commands, and keeps each one's reads from the device `number` (7:1)."""

    def __init__(self, number: str, stat: Path | None = None, ready: Ready | None = None):
        super().__init__(ready=ready)
        self._stat = stat or Path("/sys/dev/block") / number / "stat"
        self._counted: list[tuple[Sample, Requests]] = []

    def run(self, command: Sequence[str], stdout: int | IO[bytes] = subprocess.DEVNULL,
            at_ready: Callable[[], None] = lambda: None,
            environment: Mapping[str, str] = {}) -> Sample:
        before, _ = parse(self._stat.read_text())
        made = []

        def count() -> None:  # without the reads of a server while it is being ended
            made.append(self._settled() - before)
            at_ready()

        sample = super().run(command, stdout, count, environment)
        self._counted.append((sample, made[0]))
        return sample

    def of(self, sample: Sample) -> Requests:
        return next(requests for counted, requests in self._counted if counted is sample)

    def _settled(self) -> Requests:
        """The reads so far, once no request is under way."""
        until = time.monotonic() + _PATIENCE_SECONDS
        requests, under_way = parse(self._stat.read_text())
        while under_way and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            requests, under_way = parse(self._stat.read_text())
        return requests
