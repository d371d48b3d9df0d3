"""Child processes: how Frontload runs other programs, and leaves none behind.

All commands here follow one contract:

start      No process is started unnoticed: a signal that arrives meanwhile waits until the new
           process is known, and then counts.
ending     An exception that leaves early ends the command first, and reaps it. A command with a
           process group of its own ends with all that it has started there: SIGTERM lets it clean
           up, and SIGKILL follows if it has not ended after some seconds. Ctrl-C reaches such a
           command only through us. A command in our group gets the terminal's signals itself; we
           send it SIGTERM and wait for it.
time-out   The same, for a command that takes too long.
signals    Within `unwinding_on_signals` the first SIGINT, SIGTERM or SIGHUP is the exception
           Interrupted, after which we exit with 128 + its number. Those that follow are ignored:
           they must not interrupt the cleaning.

A program that only answers a question, and starts no others, needs only subprocess.run.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from frontload.base.errors import EXIT_USAGE, HOW_TO_RUN, Failure, Interrupted
from frontload.base.files import read_text

CANNOT_RUN, NOT_FOUND = 126, 127  # exit codes, as shells, env and nohup have them
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
# Signals that people and service managers send to a program, and that would end us.
_HANDED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM,
              signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGPWR,
              *range(signal.SIGRTMIN, signal.SIGRTMAX + 1))
_PATIENCE_SECONDS = 5  # with a command that ignores SIGTERM
_LAST_SECONDS = 60  # for the kernel to end a killed process
_POLL_SECONDS = 0.01
_STDERR = 2
CAP_SYS_ADMIN = 21

Command = Sequence[os.PathLike[str] | str]


@dataclass(frozen=True)
class Result:
    status: int  # negative: the signal that ended it
    stdout: str
    stderr: str


class TimedOut(Failure):
    """A command has not ended in time; it has been ended."""


@contextmanager
def started(command: Command, *, own_group: bool = True,
            **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Within `with`, a command runs, without input; the rest of it is ended with the block.

    The block waits for the command (see `wait`). `options` are those of subprocess.Popen.
    """
    process = None
    if own_group and sys.version_info >= (3, 11):
        options["process_group"] = 0
    elif own_group:
        prepare = options.get("preexec_fn") or (lambda: None)

        def in_own_group() -> None:
            os.setpgrp()
            prepare()

        options["preexec_fn"] = in_own_group
    try:
        with _signals_held():
            process = _popen(command, **{"stdin": subprocess.DEVNULL, **options})
        yield process
    finally:
        if process is not None and process.poll() is None:
            with _signals_held():
                (_end_group if own_group else _end)(process)


def wait(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
    """Waits for a started command, for no more than `timeout` seconds; returns its status, which is
    negative if a signal ended it."""
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired as problem:
        program = cast(list[str], process.args)[0]
        raise TimedOut(f"{program}: did not end within {timeout:g} seconds") from problem


def run(command: Command, *, directory: str | None = None,
        environment: Mapping[str, str] | None = None, executable: str | None = None,
        shown: bool = False, timeout: float | None = None, pass_fds: Sequence[int] = (),
        meanwhile: Callable[[], None] = lambda: None) -> Result:
    """Runs a command to its end, and keeps its output. `shown`: the output goes to our stderr.

    executable: the program's file, if command[0] is another name
    pass_fds: descriptors that the command inherits
    meanwhile: is called while the command runs
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        with started(command, cwd=directory, env=environment, executable=executable,
                     stdout=_STDERR if shown else stdout,
                     stderr=None if shown else stderr, pass_fds=pass_fds) as process:
            meanwhile()
            wait(process, timeout)
        return Result(process.returncode, _text(stdout), _text(stderr))


def check_call(command: Command, cwd: os.PathLike[str] | str | None = None,
               environment: Mapping[str, str] | None = None) -> None:
    """Runs a tool, with its output on our stderr. If it fails, we end with its message."""
    # In our group: ninja, for one, ends its children when it is asked to end.
    with started(command, own_group=False, stdout=_STDERR, cwd=cwd, env=environment) as process:
        status = wait(process)
    if status:
        raise Failure(f"{os.fspath(command[0])}: exited with status {status}", code=1)


def run_in_foreground(command: Command, environment: Mapping[str, str],
                      meanwhile: Callable[[], None] = lambda: None) -> int:
    """Runs a command in our place: it has our descriptors and terminal, and handles signals.
    Returns its exit status: 128 + N after signal N. `meanwhile` is called while the command
    runs."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    # A terminal sends SIGINT and SIGQUIT to the command as well, so we only disobey them; the
    # others come to us alone, and we pass them on. We handle signals instead of ignoring them,
    # because a program inherits ignored ones.
    def hand_on(number: int, _frame: object = None) -> None:
        if child is None:
            early.append(number)
        elif number not in _FROM_TERMINAL:
            child.send_signal(number)

    with _handled((*_FROM_TERMINAL, *_HANDED_ON), hand_on):
        child = _popen(command, own_codes=True, env=environment, close_fds=False)
        for number in early:
            hand_on(number)
        meanwhile()
        status = child.wait()
    return status if status >= 0 else 128 - status


@contextmanager
def unwinding_on_signals() -> Iterator[None]:
    """Within `with`, SIGINT, SIGTERM and SIGHUP unwind the stack, so that everything is cleaned up.
    Signals that are ignored (by nohup, say) stay ignored."""
    def unwind(number: int, _frame: object) -> None:
        for each in _ENDING_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    with _handled(_ENDING_SIGNALS, unwind):
        yield


@contextmanager
def _handled(numbers: Sequence[int], handler: Callable[[int, object], object]) -> Iterator[None]:
    """Within `with`, these signals are handled by `handler`, except ignored ones."""
    before = {number: other for number in numbers
              if (other := signal.getsignal(number)) not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, other in before.items():
            signal.signal(number, other)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Within `with`, signals that would raise an exception wait until the block is left."""
    arrived = []
    handlers = {number: signal.getsignal(number) for number in _ENDING_SIGNALS}
    held = [number for number, handler in handlers.items() if callable(handler)]
    with _handled(held, lambda number, frame: arrived.append(number)):
        yield
    for number in arrived:
        signal.raise_signal(number)


def _popen(command: Command, *, own_codes: bool = False,
           **options: Any) -> subprocess.Popen[bytes]:
    """`own_codes`: a command that cannot be run gets the exit codes of shells."""
    try:
        return subprocess.Popen([os.fspath(word) for word in command], **options)
    except OSError as problem:
        code = NOT_FOUND if isinstance(problem, FileNotFoundError) else CANNOT_RUN
        raise Failure(f"{os.fsdecode(problem.filename or command[0])}: {problem.strerror}",
                      code=code if own_codes else EXIT_USAGE, note=HOW_TO_RUN) from problem


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends all processes of a command's group. The command is reaped last: until then its pid,
    which is the group's number, cannot be reused."""
    for number, seconds in ((signal.SIGTERM, _PATIENCE_SECONDS), (signal.SIGKILL, _LAST_SECONDS)):
        with suppress(ProcessLookupError, PermissionError):  # of another user: sudo
            os.killpg(process.pid, number)
        deadline = time.monotonic() + seconds
        while _is_alive(process.pid) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        if not _is_alive(process.pid):
            break
    process.poll()


def _is_alive(group: int) -> bool:
    """Whether a process of a group runs; a zombie does not."""
    for entry in os.scandir("/proc"):
        if not entry.name.isdecimal():
            continue
        with suppress(OSError):  # the process has ended meanwhile
            text = Path(entry.path, "stat").read_text("utf-8", "replace")
            state, _, its_group = text.rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                return True
    return False


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")


def has_capability(number: int) -> bool:
    """Whether this process has a capability (capabilities(7), linux/capability.h)."""
    line = next(line for line in read_text("/proc/self/status").splitlines()
                if line.startswith("CapEff:"))
    return bool(int(line.split()[1], 16) >> number & 1)


def ending_with_us() -> list[str]:
    """The prefix of a command that must end with us, even by a signal that cannot be handled; empty
    without setpriv, or with busybox's, which does not know how."""
    setpriv = shutil.which("setpriv")
    prefix = [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []
    return [] if prefix and run([*prefix, "true"]).status else prefix
