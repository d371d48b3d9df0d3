"""What a cold start reads: predicted, with a front and without, and held to the guarantee."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from places import BUILD

PAGE = 4096
SLOWER = 1.05  # what nobody minds
DEVICES = ("hdd", "emmc", "ssd", "nfs")
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
    command = [_PREDICT, "--json", f"--device={','.join(devices)}", *options, program, *traces]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, f"{command}\n{result.stderr}"
    return [_reading(prediction["devices"])
            for prediction in json.loads(result.stdout)["predictions"]]


def _reading(devices: dict) -> Reading:
    first = next(iter(devices.values()))  # the readahead of all is the same
    return Reading(first["major_faults"], first["read_bytes"],
                   {name: figures["seconds"] for name, figures in devices.items()})


def excess(plain: Reading, front: Reading) -> Iterator[str]:
    """What a start reads more with a front than without, beyond one page and one fault."""
    if front.bytes > plain.bytes + PAGE:
        yield f"{front.bytes} bytes instead of {plain.bytes}"
    if front.faults > plain.faults + 1:
        yield f"{front.faults} faults instead of {plain.faults}"


def slower(plain: Reading, front: Reading) -> Iterator[str]:
    """On which devices a start takes longer with a front than without."""
    for device, seconds in plain.seconds.items():
        if front.seconds[device] > SLOWER * seconds:
            yield f"{device}: {front.seconds[device] / seconds:.2f} times as long"
