"""Running tools such that an interrupted measurement leaves none behind, and cleans up once."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from frontload.base.errors import Failure, Interrupted
from frontload.measure.launcher import signals_held

_STDERR = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def unwinding_on_signals() -> Iterator[None]:
    """Within `with`, SIGINT, SIGTERM and SIGHUP unwind the stack, so that everything is cleaned up.

    Only the first one does: a second Ctrl-C must not interrupt the cleaning. What is ignored (by
    nohup, say) stays so.
    """
    def unwind(number, frame):
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_call(command: Sequence[os.PathLike | str]) -> None:
    """Runs a tool, its output on our stderr; a failing tool ends ours with its message."""
    # If we are ended, so must the tool be, but by SIGTERM: ninja then ends what it has started.
    process = None
    try:
        with signals_held():
            process = subprocess.Popen(list(map(os.fspath, command)), stdin=subprocess.DEVNULL,
                                       stdout=_STDERR)
        process.wait()
    except BaseException:
        if process is not None:
            process.terminate()
            process.wait()
        raise
    if process.returncode:
        raise Failure(f"{os.fspath(command[0])}: exited with status {process.returncode}", code=1)
