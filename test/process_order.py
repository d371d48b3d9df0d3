"""In which order processes were started, by their ids: these ascend, and begin again behind the
kernel's largest (`pid_max`, often 32768), which a whole run of the tests reaches several times."""

from collections.abc import Iterable
from pathlib import Path

_PID_MAX = int(Path("/proc/sys/kernel/pid_max").read_text())


def by_start(traces: Iterable) -> list:
    """The traces, each with a `pid`, of processes that were started close to each other, in that
    order: the first process is the one behind the widest gap between ids."""
    ascending = sorted(traces, key=lambda trace: trace.pid)
    pids = [trace.pid for trace in ascending]
    gaps = [(pid - before) % _PID_MAX for before, pid in zip([*pids[-1:], *pids[:-1]], pids,
                                                            strict=True)]
    first = gaps.index(max(gaps)) if len(set(pids)) > 1 else 0
    return ascending[first:] + ascending[:first]
