"""A command that starts the program, in which another build of the program can take its place; and
whether two builds behave alike: the same stdout, and the same ending."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from frontload.auto.own_libraries import SEARCHED
from frontload.auto.programs import file_of
from frontload.base import processes, tools
from frontload.base.errors import Failure
from frontload.base.processes import Result
from frontload.base.scratch import scratch_folder

_PLACE = "{}"


@contextmanager
def named_as(called: str, binary: str) -> Iterator[str]:
    """Within `with`, a path of this build that has the name by which the user starts the program:
    busybox, clang and git do what their name says."""
    if os.path.basename(called) == os.path.basename(binary):
        yield binary
        return
    with scratch_folder("frontload-name.") as folder:
        folder.chmod(0o711)  # the command may change its user
        link = folder / os.path.basename(called)
        link.symlink_to(os.path.abspath(binary))
        yield str(link)


@dataclass(frozen=True)
class Workload:
    """`words` has {} in the program's place; `called` is the user's name for the program;
    `environment`: variables that are set for it."""

    words: tuple[str, ...]
    called: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def searching(self, folder: str) -> "Workload":
        """The same, with libraries from this folder first."""
        before = self.environment.get(SEARCHED, os.environ.get(SEARCHED, ""))
        return replace(self, environment={
            **self.environment, SEARCHED: ":".join(filter(None, (folder, before)))})

    def command(self, binary: str) -> list[str]:
        return [word.replace(_PLACE, binary) for word in self.words]

    def run(self, binary: str, before: Sequence[str] = (), **options) -> Result:
        """Runs the command with this build of the program, below `before` if that is given.
        `options` are those of processes.run."""
        environment = tools.environment_of_user() | dict(self.environment)
        with named_as(self.called, binary) as path:
            command = [*before, *self.command(path)]
            # Under its usual name, so that its messages about itself are the same.
            executable = None
            if not before and self.words[0] == _PLACE:
                command[0], executable = self.called, binary
            result = processes.run(command, environment=environment, executable=executable,
                                   **options)
            return replace(result, stdout=result.stdout.replace(path, binary))

    def __str__(self) -> str:
        return shlex.join(self.command(self.called))


def read(words: Sequence[str], program: str, called: str,
         environment: Mapping[str, str] = {}, wrapper: str = "") -> Workload:
    """The workload of a command; without {}, its first word must be the program, or the file of a
    script that starts it with the same arguments."""
    if any(_PLACE in word for word in words):
        return Workload(tuple(words), called, environment)
    if file_of(words[0]) == wrapper:
        words = [called, *words[1:]]
    if file_of(words[0]) != program:
        raise Failure(f"{shlex.join(words)}: does not say where {program} belongs",
                      note="write {} in its place, in each command")
    return Workload((_PLACE, *words[1:]), words[0], environment)


def parse(text: str, program: str, called: str, environment: Mapping[str, str] = {},
          wrapper: str = "") -> Workload:
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise Failure(f"--workload {text!r}: {problem}",
                      note="write it as in a shell, as one argument") from problem
    if not words:
        raise Failure("--workload: the command is empty",
                      note="write it as in a shell, as one argument")
    return read(words, program, called, environment, wrapper)


@dataclass(frozen=True)
class Comparison:
    workload: str
    same: bool | None  # None: two runs of the program itself differ
    detail: str


def compare(workload: Workload, with_fronts: Workload, before: str, after: str, plain: str,
            below: Sequence[str] = ()) -> Comparison:
    """Compares `after`, run by `with_fronts`, with `before`. `plain`, linked by ld.frontload
    without a profile, tells whether the front makes the difference. `below`: the command that runs
    them."""
    expected, found = workload.run(before, below), with_fronts.run(after, below)
    if _does(found, after) == _does(expected, before):
        return Comparison(str(workload), True, f"{len(expected.stdout)} characters on stdout, "
                          f"{_ending(expected.status)}")
    if _does(workload.run(before, below), before) != _does(expected, before):
        return Comparison(str(workload), None, "two runs of the program itself differ")
    if expected.status != found.status:
        detail = f"{_ending(found.status)}, not {_ending(expected.status)}"
    else:
        lines = zip([*expected.stdout.splitlines(), ""], [*found.stdout.splitlines(), ""],
                    strict=False)
        number = next((number for number, (one, other) in enumerate(lines, 1) if one != other), 0)
        detail = f"stdout differs from line {number} on"
    if _does(workload.run(plain, below), plain) != _does(expected, before):
        detail += "; the same happens without a front, so the change of linker causes it"
    return Comparison(str(workload), False, detail)


def _does(result: Result, binary: str) -> tuple[int, str]:
    """Status and stdout, without the program's path, which it may print."""
    return result.status, result.stdout.replace(binary, "{}")


def _ending(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {-status}"
