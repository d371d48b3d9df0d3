"""Work on many items in several processes: for items that take longer to process than to read."""

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from frontload.base.errors import EXIT_USAGE, Failure

Item = TypeVar("Item")
Result = TypeVar("Result")

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>

# Inherited by workers: closures and large tables need not be sent.
_work: Callable[[Any], object]
_items: Sequence[object]


def count() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def in_order(work: Callable[[Item], Result], items: Sequence[Item],
             jobs: int) -> Iterator[Result]:
    """`work(item)` of each item, in their order, by `jobs` processes; by this process for one job
    or one item.

    The others are forked at the beginning, with this process's memory. They send results and
    exceptions back by pickle; an exception ends the work.
    """
    if jobs == 1 or len(items) < 2:
        yield from map(work, items)
        return
    global _work, _items
    _work, _items = work, items
    pool = ProcessPoolExecutor(min(jobs, len(items)), multiprocessing.get_context("fork"), _begin,
                               (os.getpid(),))
    try:
        yield from pool.map(_do, range(len(items)))
    except BrokenProcessPool as problem:
        raise Failure("a process that did a part of the work was killed", code=EXIT_USAGE,
                      note="if memory was short, use fewer processes: --jobs 1") from problem
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(parent: int) -> None:
    """Leaves signals to the parent, and ends with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _do(index: int) -> Any:
    return _work(_items[index])
