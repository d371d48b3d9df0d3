"""Runs a command to its end with our descriptors and terminal, as a shell does."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from frontload.base import errors
from frontload.base.errors import Failure

_CANNOT_RUN, _NOT_FOUND = 126, 127  # as shells, env and nohup say it


def run(command: list[str], environment: dict[str, str]) -> int:
    """Runs a command to its end, with our descriptors and terminal; returns its exit status."""
    with _signals_go_to_the_command() as child:
        try:
            child.append(subprocess.Popen(command, env=environment, close_fds=False))
        except OSError as problem:
            code = _NOT_FOUND if isinstance(problem, FileNotFoundError) else _CANNOT_RUN
            raise Failure(f"{command[0]}: {problem.strerror}", code=code,
                          note=errors.HOW_TO_RUN) from problem
        status = child[0].wait()
    return status if status >= 0 else 128 - status


@contextmanager
def _signals_go_to_the_command() -> Iterator[list[subprocess.Popen]]:
    """While the command runs, it decides what signals do; yields a list to put the command into.

    A terminal sends SIGINT and SIGQUIT to the command as well as to us, so they are only not
    obeyed here; the others come to us alone and are handed on. They are handled, not ignored,
    because a program inherits what is ignored.
    """
    child: list[subprocess.Popen] = []

    def hand_on(number: int, _frame) -> None:
        if child and number not in (signal.SIGINT, signal.SIGQUIT):
            child[0].send_signal(number)

    previous = {number: signal.signal(number, hand_on)
                for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
                if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield child
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
