"""Running tools such that an interrupted measurement leaves none behind, and cleans up once."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from frontload.errors import Failure
from frontload.measure_run import signals_held

_STDERR = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked us to end; like KeyboardInterrupt, but for SIGTERM and SIGHUP too."""

    def __init__(self, number: int):
        super().__init__(signal.strsignal(number))
        self.exit_status = 128 + number


def unwind_on_signals() -> None:
    """From here on SIGINT, SIGTERM and SIGHUP unwind the stack, so that everything is cleaned up.

    Only the first one does: a second Ctrl-C must not interrupt the cleaning.
    """
    def unwind(number, frame):
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    for each in _SIGNALS:
        signal.signal(each, unwind)


@contextmanager
def unwinding_on_signals() -> Iterator[None]:
    """The same within `with`."""
    # What is ignored (by nohup, say) stays so.
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    unwind_on_signals()
    for number, handler in before.items():
        if handler is signal.SIG_IGN:
            signal.signal(number, handler)
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
