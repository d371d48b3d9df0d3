"""How much memory a command and all its processes take at most.

A page that several of them share counts once (Pss in /proc/PID/smaps_rollup, see proc(5)). It is
asked for ten times a second, so what is used for less time than that may be missed.
"""

import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base.errors import Failure

_PERIOD = 0.1  # seconds


@dataclass(frozen=True)
class Use:
    seconds: float
    memory: int  # bytes


def run(command: Sequence[str], folder: Path) -> Use:
    """Runs a command that has to succeed."""
    begin, most = time.monotonic(), 0
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None:
            most = max(most, sum(map(_memory, _family(process.pid))))
            time.sleep(_PERIOD)
        used = time.monotonic() - begin
    finally:
        process.kill()
        said = process.communicate()[1]
    if process.returncode:
        raise Failure(f"{command[0]}: exited with status {process.returncode}: {said.strip()}")
    return Use(used, most)


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:  # it has ended
        return


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
