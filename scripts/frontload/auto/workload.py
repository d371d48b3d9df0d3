"""A command that starts the program, in which another build of the program can take its place."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from frontload.auto.programs import program_of
from frontload.base import processes
from frontload.base.errors import Failure

_PLACE = "{}"


@dataclass(frozen=True)
class Workload:
    """`words` has {} in the program's place; `called` is the user's name for the program."""

    words: tuple[str, ...]
    called: str

    def command(self, binary: str) -> list[str]:
        return [word.replace(_PLACE, binary) for word in self.words]

    def run(self, binary: str, before: Sequence[str] = (), **options) -> processes.Result:
        """Runs the command with this build of the program, below `before` if that is given.
        `options` are those of processes.run."""
        command = [*before, *self.command(binary)]
        # Under its usual name, so that its messages about itself are the same.
        executable = None
        if not before and self.words[0] == _PLACE:
            command[0], executable = self.called, binary
        return processes.run(command, environment=environment(), executable=executable,
                             **options)

    def __str__(self) -> str:
        return shlex.join(self.command(self.called))


def environment() -> dict[str, str]:
    """Our environment, without the variable for our own tools."""
    return {name: value for name, value in os.environ.items() if name != "FRONTLOAD_BINDIR"}


def read(words: Sequence[str], program: str, called: str) -> Workload:
    """The workload of a command; without {}, its first word must be the program."""
    if any(_PLACE in word for word in words):
        return Workload(tuple(words), called)
    if program_of(words[0]) != program:
        raise Failure(f"{shlex.join(words)}: does not say where {program} belongs",
                      note="write {} in its place, in each command")
    return Workload((_PLACE, *words[1:]), words[0])


def parse(text: str, program: str, called: str) -> Workload:
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise Failure(f"--workload {text!r}: {problem}",
                      note="write it as in a shell, as one argument") from problem
    if not words:
        raise Failure("--workload: the command is empty",
                      note="write it as in a shell, as one argument")
    return read(words, program, called)
