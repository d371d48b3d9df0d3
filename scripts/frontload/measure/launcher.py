"""One start of a command, and what it cost: the Python side of frontload-exec."""

import copy
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base import processes, tools
from frontload.base.errors import Failure
from frontload.base.ready import TIMED_OUT, Ready
from frontload.device.throttle import PAUSE_SECONDS

_REFUSAL = "frontload-exec: error: "  # how it says that there was no run


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
    ready: str | None = None  # what it was waited for to do; the figures end there
    watching_us: int = 0  # what it cost to wait, beside the command

    @property
    def failed(self) -> bool:
        return self.exit_status != 0

    def how_it_ended(self) -> str:
        if self.exit_status == TIMED_OUT:
            return f"was not ready in time, or exited with status {TIMED_OUT}"
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
    `ready`: a command is measured until it is ready, and ended then.
    """

    def __init__(self, cgroup: Path | None = None, *, end_with_us: bool = False,
                 ready: Ready | None = None):
        self._prefix = [tools.tool("frontload-exec")]
        if end_with_us and (setpriv := shutil.which("setpriv")):
            self._prefix = [setpriv, "--pdeathsig", "TERM", "--", *self._prefix]
        if cgroup is not None:
            self._prefix.append(f"--cgroup={cgroup}")
        self._ready = ready
        if ready is not None:
            self._prefix += ready.options()

    def below(self, *program: str) -> "Launcher":
        """The same, through another program, which has to run what follows as its arguments."""
        other = copy.copy(self)
        other._prefix = [*program, *self._prefix]
        return other

    def run(self, command: Sequence[str], stdout=subprocess.DEVNULL,
            at_ready: Callable[[], None] = lambda: None) -> Sample:
        """Runs a command once. `at_ready` is called when it is ready, before it is ended, or when
        it has ended by itself."""
        reader, writer = os.pipe()
        hold_reader, hold = os.pipe()
        held = [f"--acknowledged-by={hold_reader}"] if self._ready else []
        with (open(reader, "rb") as line, tempfile.TemporaryFile() as stderr,
              open(hold, "wb") as end):
            with open(writer, "wb") as told, open(hold_reader, "rb") as holder, processes.started(
                    [*self._prefix, *held, f"--fd={writer}", "--", *command], stdout=stdout,
                    stderr=stderr, pass_fds=[writer, hold_reader]) as process:
                told.close()
                holder.close()
                text = line.read()  # to its end, which is at the end or when it is ready
                at_ready()
                end.close()
                processes.wait(process)
            stderr.seek(max(0, os.fstat(stderr.fileno()).st_size - 4096))
            said = stderr.read().decode(errors="replace").strip().splitlines()
        complaint = said[-1] if said else ""
        if not text:
            refusals = [line for line in said if line.startswith(_REFUSAL)]
            raise Failure(refusals[-1].removeprefix(_REFUSAL) if refusals else
                          complaint or f"{command[0]}: could not be started",
                          note=f"run it alone to see more: {shlex.join(command)}")
        return Sample(**json.loads(text), complaint=complaint)


class RestedLauncher(Launcher):
    """Runs commands in a throttled cgroup, each with a whole budget."""

    def run(self, *command, **options):
        time.sleep(PAUSE_SECONDS)
        return super().run(*command, **options)
