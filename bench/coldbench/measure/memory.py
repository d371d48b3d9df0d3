"""How much memory a command and all its processes take at most, and how long they take.

A page that several of them share counts once (Pss in /proc/PID/smaps_rollup, see proc(5)). We read
it at most ten times a second, so shorter peaks may be missed.
"""

import resource
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base.errors import Failure

_PERIOD = 0.1  # seconds
_SHARE = 4  # the kernel takes long to look at large processes, which wait meanwhile


@dataclass(frozen=True)
class Use:
    seconds: float
    memory: int  # bytes
    processor_seconds: float  # of all processes that have ended and were waited for


def run(command: Sequence[str], folder: Path) -> Use:
    """Runs a command that has to succeed."""
    begin, processor, most = time.monotonic(), _processor(), 0
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None:
            looked = time.monotonic()
            most = max(most, sum(map(_memory, _family(process.pid))))
            time.sleep(max(_PERIOD, _SHARE * (time.monotonic() - looked)))
        used = time.monotonic() - begin
    finally:
        process.kill()
        said = process.communicate()[1]
    if process.returncode:
        raise Failure(f"{command[0]}: exited with status {process.returncode}: {said.strip()}")
    return Use(used, most, _processor() - processor)


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:  # the process has ended
        return


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
