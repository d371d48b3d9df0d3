"""How many requests a start made of a device, by the kernel's own count.

The device is ours alone, so all its reads during a start were for the start, even those that the
start did not wait for.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from frontload.measure.launcher import Launcher, Sample

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


class CountingLauncher(Launcher):
    """Runs commands, and keeps each one's reads from the device `number` (7:1)."""

    def __init__(self, number: str, stat: Path | None = None):
        super().__init__()
        self._stat = stat or Path("/sys/dev/block") / number / "stat"
        self._counted: list[tuple[Sample, Requests]] = []

    def run(self, *command, **options) -> Sample:
        before, _ = parse(self._stat.read_text())
        sample = super().run(*command, **options)
        self._counted.append((sample, self._settled() - before))
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
