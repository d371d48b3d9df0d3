"""One start of a command, and what it cost: the Python side of frontload-exec."""

import copy
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from frontload.base import tools
from frontload.base.errors import Failure

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REFUSAL = "frontload-exec: error: "  # how it says that there was no run
_PATIENCE_SECONDS = 5  # of a command that ignores SIGTERM


@dataclass(frozen=True)
class Sample:
    """What one run of a command cost; the names are those that frontload-exec writes."""

    exit_status: int | None  # None if a signal ended it
    signal: int | None
    wall_ns: int
    user_us: int
    system_us: int
    major_faults: int
    minor_faults: int
    max_rss_kib: int
    blocks_in: int  # of 512 bytes, from any device
    voluntary_switches: int
    involuntary_switches: int
    complaint: str = ""  # the last line the command wrote to stderr

    @property
    def failed(self) -> bool:
        return self.exit_status != 0

    def how_it_ended(self) -> str:
        if self.signal is not None:
            return f"was ended by signal {self.signal} ({signal.strsignal(self.signal)})"
        return f"exited with status {self.exit_status}"

    def failure_of(self, program: str) -> str:
        """What to say of a program that failed."""
        return f"{program}: {self.how_it_ended()}" + (
            f": {self.complaint}" if self.complaint else "")


class Launcher:
    """Runs commands through frontload-exec, in the cgroup `cgroup` if one is given.

    `end_with_us`: a command is also ended if we are, by a signal that nobody can handle.
    """

    def __init__(self, cgroup: Path | None = None, *, end_with_us: bool = False):
        self._prefix = [tools.tool("frontload-exec")]
        if end_with_us and (setpriv := shutil.which("setpriv")):
            self._prefix = [setpriv, "--pdeathsig", "TERM", "--", *self._prefix]
        if cgroup is not None:
            self._prefix.append(f"--cgroup={cgroup}")

    def below(self, *program: str) -> "Launcher":
        """The same, through another program, which has to run what follows as its arguments."""
        other = copy.copy(self)
        other._prefix = [*program, *self._prefix]
        return other

    def run(self, command: Sequence[str], stdout=subprocess.DEVNULL) -> Sample:
        reader, writer = os.pipe()
        process = None
        with open(reader, "rb") as line, tempfile.TemporaryFile() as stderr:
            try:
                with open(writer, "wb"), signals_held():
                    # A group of its own, so that no interrupt reaches the command but through us.
                    process = subprocess.Popen(
                        [*self._prefix, f"--fd={writer}", "--", *command], stdout=stdout,
                        stdin=subprocess.DEVNULL, stderr=stderr, pass_fds=[writer],
                        process_group=0)
                process.wait()
            except BaseException:
                if process is not None:
                    _end(process)
                raise
            text = line.read()
            stderr.seek(max(0, os.fstat(stderr.fileno()).st_size - 4096))
            said = stderr.read().decode(errors="replace").strip().splitlines()
        complaint = said[-1] if said else ""
        if not text:
            refusals = [line for line in said if line.startswith(_REFUSAL)]
            raise Failure(refusals[-1].removeprefix(_REFUSAL) if refusals else
                          complaint or f"{command[0]}: could not be started",
                          note=f"run it alone to see more: {shlex.join(command)}")
        return Sample(**json.loads(text), complaint=complaint)


@contextmanager
def signals_held() -> Iterator[None]:
    """Signals that would raise an exception do so only when the block is left.

    A process whose start they interrupt would be known to nobody, and stay.
    """
    arrived = []
    handlers = {number: signal.getsignal(number) for number in _ENDING_SIGNALS}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in held:
        signal.signal(number, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
    for number in arrived:
        signal.raise_signal(number)


def _end(process: subprocess.Popen) -> None:
    """Ends the command, and waits until it is gone: it keeps its file system and cgroup busy."""
    process.terminate()  # frontload-exec hands this on, and reaps the command
    try:
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
