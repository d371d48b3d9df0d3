"""What a cold start reads: predicted, with a front and without, and held to the guarantee.

A start may read one page and have one fault more with a front, and read the bytes that fill pages:
a linear file ends each segment on a page, where lld lets two share one. Of larger pages only 4 KiB
count, since nobody has to read what lies between.
"""

import functools
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from frontload.elf import file as elves
from places import BUILD

PAGE = 4096
WINDOW = 128 << 10  # what the kernel reads for one fault
SLOWER = 1.05  # what nobody minds
DEVICES = ("hdd", "emmc", "ssd", "nfs")
_ALLOC, _NOBITS = 2, 8
_PREDICT = BUILD / "bin" / "frontload-predict"


@dataclass(frozen=True)
class Reading:
    """What one run reads of its file."""

    faults: int
    bytes: int
    seconds: dict[str, float] = field(default_factory=dict)  # by kind of device


def predicted(program: Path, traces: Sequence[Path], *options: str,
              devices: Sequence[str] = ("ssd",)) -> list[Reading]:
    """What each of the traced runs would read of a program that starts cold."""
    command = [_PREDICT, f"--device={','.join(devices)}", *options, program, *traces]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}\n{result.stderr}"
    return [_reading(prediction["devices"])
            for prediction in json.loads(result.stdout)["predictions"]]


@functools.cache
def _devices() -> dict[str, dict]:
    """The figures of each kind of device, by its name."""
    result = subprocess.run([_PREDICT, "--list-devices"], capture_output=True, check=True)
    return {device["name"]: device for device in json.loads(result.stdout)["devices"]}


def _reading(devices: dict) -> Reading:
    first = next(iter(devices.values()))  # the readahead of all is the same
    return Reading(first["major_faults"], first["read_bytes"],
                   {name: figures["seconds"] for name, figures in devices.items()})


def filling(program: Path) -> int:
    """The bytes that fill pages between what is loaded of a file, at most a page each time."""
    elf = elves.read(program)
    is_content = np.array([not name.endswith(b"padding") for name in elf.section_names])
    loaded = elf.sections[(elf.sections["flags"] & _ALLOC != 0) & is_content
                          & (elf.sections["type"] != _NOBITS)]
    starts, sizes = loaded["offset"].astype(np.int64), loaded["size"].astype(np.int64)
    starts, sizes = starts[sizes > 0], sizes[sizes > 0]
    order = np.argsort(starts)
    ends = np.maximum.accumulate((starts + sizes)[order])
    holes = starts[order][1:] - ends[:-1]
    return int(np.clip([*holes, -ends[-1] % PAGE], 0, PAGE).sum())


def more_filling(plain: Path, front: Path) -> int:
    return max(0, filling(front) - filling(plain))


@dataclass(frozen=True)
class Excess:
    """What a start does more with a front than without: so many times as much."""

    ratio: float
    text: str

    def __str__(self) -> str:
        return self.text

    def of(self, what: str) -> "Excess":
        return Excess(self.ratio, f"{what}: {self.text}")


def excess(plain: Reading, front: Reading, filled: int) -> Iterator[Excess]:
    """What a start reads more with a front than without, beyond one page and one fault, in a file
    with so many bytes more that fill pages. What is no more than a window is read at once."""
    if front.bytes > max(plain.bytes + PAGE + filled, WINDOW):
        yield Excess(front.bytes / plain.bytes, f"{front.bytes} bytes instead of {plain.bytes}, "
                     f"of which {filled} fill pages")
    if front.faults > plain.faults + 1:
        yield Excess(front.faults / max(plain.faults, 1),
                     f"{front.faults} faults instead of {plain.faults}")


def slower(plain: Reading, front: Reading, filled: int) -> Iterator[Excess]:
    """On which devices a start takes longer with a front than without, beyond that."""
    for device, seconds in plain.seconds.items():
        figures = _devices()[device]
        more = figures["latency_seconds"] + (PAGE + filled) / figures["bytes_per_second"]
        if front.seconds[device] > SLOWER * seconds + more:
            ratio = front.seconds[device] / seconds
            yield Excess(ratio, f"{device}: {ratio:.2f} times as long")
