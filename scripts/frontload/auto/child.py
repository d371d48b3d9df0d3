"""Running commands on a user's behalf: their output kept, and none that stays if we are ended."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frontload.base.errors import HOW_TO_RUN, Failure
from frontload.measure.launcher import signals_held

_PATIENCE_SECONDS = 5


@dataclass(frozen=True)
class Result:
    status: int  # negative: of the signal that ended it
    stdout: str
    stderr: str


def run(command: Sequence[str], *, directory: str | None = None,
        environment: Mapping[str, str] | None = None, executable: str | None = None,
        shown: bool = False) -> Result:
    """Runs a command to its end, without input. `shown`: what it writes goes to our stderr.

    executable: the program, if it shall believe to be called command[0]
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = None
        try:
            with signals_held():
                process = subprocess.Popen(
                    list(command), cwd=directory, env=environment, executable=executable,
                    stdin=subprocess.DEVNULL, stdout=2 if shown else stdout,
                    stderr=None if shown else stderr, process_group=0)
            process.wait()
        except OSError as problem:
            raise Failure(f"{executable or command[0]}: {problem.strerror}",
                          note=HOW_TO_RUN) from problem
        except BaseException:
            if process is not None:
                _end(process)
            raise
        return Result(process.returncode, _text(stdout), _text(stderr))


def _text(file) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")


def _end(process: subprocess.Popen) -> None:
    """Ends a command with all that it has started, and waits for it."""
    import signal

    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_PATIENCE_SECONDS)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            process.wait()
            return
