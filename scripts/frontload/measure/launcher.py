"""One start of a command, and its cost: the Python side of frontload-exec."""

import copy
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from frontload.base import processes, tools
from frontload.base.errors import HOW_TO_RUN, Failure
from frontload.base.exec_line import ExecLine
from frontload.base.ready import TIMED_OUT, Ready
from frontload.device.covering import enter_mounts
from frontload.device.throttle import PAUSE_SECONDS
from frontload.elf import file as elf
from frontload.elf import functions
from frontload.elf.loading import read_start

_OURS = "frontload-exec: "
_REFUSAL = f"{_OURS}error: "  # how it reports that there was no run


@dataclass(frozen=True)
class Sample:
    """The cost of one run of a command; the names are those that frontload-exec writes."""

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
    ready: str | None = None  # the event that was waited for; the figures end there
    ready_ns: int | None = None  # when the event came; with a request, wall_ns goes on to its end
    watching_us: int = 0  # the cost of waiting, beside the command

    @property
    def status(self) -> int:
        """As in a shell."""
        return self.exit_status if self.exit_status is not None else 128 + (self.signal or 0)

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
        """The message about a program that failed."""
        return f"{program}: {self.how_it_ended()}" + (
            f": {self.complaint}" if self.complaint else "")


class Launcher:
    """Runs commands through frontload-exec.

    `cgroup`: commands run in this throttled cgroup, each with a full budget.
    `end_with_us`: a command ends with us, even by a signal that cannot be handled.
    `ready`: a command is measured until it is ready, and then ended.
    `outside`: if our own files are covered (device/covering.py), the mounts before. The programs
    that run and watch the command are started there, so that they do not read the copies before it.
    """

    def __init__(self, cgroup: Path | None = None, *, end_with_us: bool = False,
                 ready: Ready | None = None, outside: int | None = None):
        self._prefix: list[Path | str] = [tools.tool("frontload-exec")]
        if end_with_us:
            self._prefix[:0] = processes.ending_with_us()
        if cgroup is not None:
            self._prefix.append(f"--cgroup={cgroup}")
        self._rests = cgroup is not None
        if outside is not None:
            self._prefix.append(f"--mounts=/proc/{os.getpid()}/ns/mnt")
        self._before_exec = None if outside is None else partial(enter_mounts, outside)
        self._ready = ready
        self._function = None if ready is None else ready.function
        self._places: dict[str, str] = {}  # by program: the option for a function's place

    def below(self, *program: str) -> "Launcher":
        """The same, below another program, which runs its arguments."""
        other = copy.copy(self)
        other._prefix = [*program, *self._prefix]
        return other

    @property
    def waits_for_function(self) -> bool:
        return self._function is not None

    def learn(self, command: Sequence[str]) -> None:
        """To be called before the files of a command are evicted: it may have to read them."""
        if self._function is None or command[0] in self._places:
            return
        program = shutil.which(command[0])
        if program is None:
            raise Failure(f"{command[0]}: is not a program that can be run", note=HOW_TO_RUN)
        address = functions.find(elf.read(program), command[0], self._function)
        self._places[command[0]] = f"--until-entered={address:#x}@{read_start(program).entry:#x}"

    def run(self, command: Sequence[str], stdout: int | IO[bytes] = subprocess.DEVNULL,
            at_ready: Callable[[], None] = lambda: None,
            environment: Mapping[str, str] = {}) -> Sample:
        """Runs a command once, with more variables in its environment. `at_ready` is called when it
        is ready, before it is ended, or when it has ended by itself."""
        if self._rests:
            time.sleep(PAUSE_SECONDS)
        with ExecLine(self._ready) as line, tempfile.TemporaryFile() as stderr:
            self.learn(command)
            place = [self._places[command[0]]] if command[0] in self._places else []
            with processes.started([*self._prefix, *line.options, *place, "--", *command],
                                   stdout=stdout, stderr=stderr, pass_fds=line.descriptors,
                                   env=os.environ | dict(environment),
                                   preexec_fn=self._before_exec) as process:
                text = line.read()
                at_ready()
                line.release()
                processes.wait(process)
            stderr.seek(max(0, os.fstat(stderr.fileno()).st_size - 4096))
            said = stderr.read().decode(errors="replace").strip().splitlines()
        # The sample has frontload-exec's report of the end; the program's own last line tells why.
        complaint = next((line for line in reversed(said) if not line.startswith(_OURS)),
                         said[-1] if said else "")
        if not text:
            refusals = [line for line in said if line.startswith(_REFUSAL)]
            raise Failure(refusals[-1].removeprefix(_REFUSAL) if refusals else
                          complaint or f"{command[0]}: could not be started",
                          note=f"run it alone to see more: {shlex.join(command)}")
        return Sample(**json.loads(text), complaint=complaint)
