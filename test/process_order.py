"""In which order processes were started, by their ids: these ascend, and begin again behind the
kernel's largest (`pid_max`, often 32768), which a whole run of the tests reaches several times."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar

_PID_MAX = int(Path("/proc/sys/kernel/pid_max").read_text())


class OfProcess(Protocol):
    pid: int


Found = TypeVar("Found", bound=OfProcess)


def by_start(found: Iterable[Found], pid_max: int = _PID_MAX) -> list[Found]:
    """What is of processes that were started close to each other, the first one first: behind the
    widest gap between their ids, going around."""
    ascending = sorted(found, key=lambda each: each.pid)
    pids = [each.pid for each in ascending]
    gaps = [(pid - before) % pid_max for before, pid in zip([*pids[-1:], *pids[:-1]], pids,
                                                            strict=True)]
    first = gaps.index(max(gaps)) if len(set(pids)) > 1 else 0
    return ascending[first:] + ascending[:first]
