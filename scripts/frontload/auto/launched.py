"""The program that a command starts in a roundabout way: a script of the user, libtool's wrapper,
`cargo run`, npm. Runs the command once under strace, and reads which program of the user it
executes last, with which arguments and environment. From then on, auto runs this program itself.

A program of the user is an ELF file in or below the folder of the project: the compilers, shells
and interpreters that such a command also executes are elsewhere.
"""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from frontload.auto import programs
from frontload.base import processes
from frontload.base.errors import Diagnostics, Failure
from frontload.base.scratch import scratch_folder
from frontload.tracing import strace

_SECONDS = 20  # then the command is ended: a server has been started by then
_MAX_TEXT = 1 << 17  # Linux's limit for an argument
_OF_SHELLS = "_", "OLDPWD", "PWD", "SHLVL"
_VERSIONED = ".git", ".hg", ".svn", ".jj"


@dataclass(frozen=True)
class Launched:
    program: str
    words: tuple[str, ...]  # the program, as the command calls it, and its arguments
    environment: dict[str, str]  # the variables that the command has set for it


def find(words: Sequence[str], called: str, diagnostics: Diagnostics) -> Launched:
    """The program that a command starts; `called` is the file of the command's first word."""
    diagnostics.note(f"{words[0]} is no program of its own build: running it once under strace, "
                     "to see which program it starts")
    roots = list(dict.fromkeys((_root(os.path.dirname(os.path.realpath(called))),
                                _root(os.getcwd()))))
    with scratch_folder("frontload-auto.") as scratch:
        log = scratch / "calls"
        watching = strace.watching(("execve", "chdir", "fchdir"), log, "-f", "-v", "-s",
                                   str(_MAX_TEXT), remedy="install strace (apt-get install strace)")
        with processes.started([*watching, *words], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) as process, suppress(
                                   processes.TimedOut):
            processes.wait(process, _SECONDS)
        text = log.read_text("ascii", "replace") if log.exists() else ""
    program, found, folders = "", None, [os.getcwd()]
    for call in strace.calls(text.splitlines()):
        if call.name != "execve":
            folders.append(os.path.join(folders[0], call.path or call.base or "."))
        elif call.result in (0, None) and call.path and call.arguments:
            # strace does not say in which folder a process is.
            for path in (os.path.join(folder, call.path) for folder in reversed(folders)):
                if _is_own(path, roots):
                    program, found = os.path.realpath(path), call
                    break
    if found is None:
        raise Failure(f"{words[0]}: starts no program that lies below {' or '.join(roots)}",
                      note="name the program, and write {} in its place in the command: --program "
                      f"APP -- {words[0]} {{}} ...")
    environment = dict(each.split("=", 1) for each in found.environment if "=" in each)
    launched = Launched(
        program, found.arguments,
        {name: value for name, value in environment.items()
         if os.environ.get(name) != value and name not in _OF_SHELLS})
    diagnostics.note(f"it starts {launched.program}")
    return launched


def _root(folder: str) -> str:
    """The project that a folder belongs to: the nearest one above it that has a history."""
    path = Path(folder)
    return str(next((each for each in (path, *path.parents)
                     if any((each / name).exists() for name in _VERSIONED)), path))


def _is_own(path: str, roots: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return (any(os.path.commonpath((real, root)) == root for root in roots)
            and not programs.is_of_system(real) and os.path.isfile(real) and programs.is_elf(real))
