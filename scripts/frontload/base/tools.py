"""Finds the native programs that belong to Frontload.

They lie beside the `frontload` command, in the `bin` folder of the build tree or of an installed
prefix. The command's launcher sets FRONTLOAD_BINDIR to that folder, and users can set it. pip
installs them where it installs commands, which is not always in PATH. Where there is only the
Python package, we look them up in PATH.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from frontload.base.errors import EXIT_OK, Failure


def own_folders() -> list[str]:
    """Where Frontload's own programs may lie."""
    return [folder for folder in (
        os.environ.get("FRONTLOAD_BINDIR"), sysconfig.get_path("scripts"),
        os.path.dirname(os.path.realpath(sys.argv[0]))) if folder]


def find_tool(name: str) -> Path | None:
    """The path of Frontload's program `name`, or None."""
    for folder in own_folders():
        if os.access(Path(folder) / name, os.X_OK):
            return Path(folder) / name
    found = shutil.which(name)
    return Path(found) if found else None


def tool(name: str) -> Path:
    """Like find_tool, but a missing program ends the command."""
    found = find_tool(name)
    if found is None:
        raise Failure(f"{name}: not found",
                      note="it is a native program: build and install Frontload with CMake (or "
                           "install its Debian package), and put its bin folder in PATH, or set "
                           "FRONTLOAD_BINDIR to it")
    return found


def environment_of_user() -> dict[str, str]:
    """Our environment without the variable for our own tools, for the user's commands."""
    return {name: value for name, value in os.environ.items() if name != "FRONTLOAD_BINDIR"}


def failure_of(name: str, code: int, said: str, note: str = "please report this") -> Failure:
    """The error and the note that our program `name` printed as it failed. If it printed nothing:
    that it died, with `note`."""
    found = {}
    for line in said.splitlines():
        for kind in ("error", "note"):
            if line.startswith(prefix := f"{name}: {kind}: "):
                found[kind] = line.removeprefix(prefix)
    if "error" not in found:
        return Failure(f"{name}: ended with status {code}", note=note)
    return Failure(found["error"], code=code, note=found.get("note"))


@contextmanager
def ask(name: str, words: Sequence[str], header: bytes,
        stdin: IO[bytes] | int = subprocess.DEVNULL) -> Iterator[tuple[IO[bytes], str]]:
    """Runs our program `name`; yields its answer behind the line `header`, which shows that it has
    our version, and its messages. Raises Failure if the program refuses.

    The answer is in a file, so that neither waits for the other.
    """
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as messages:
        code = subprocess.run([tool(name), *words], stdin=stdin, stdout=answer,
                              stderr=messages).returncode
        messages.seek(0)
        said = messages.read().decode("utf-8", "replace")
        if code != EXIT_OK:
            raise failure_of(name, code, said)
        answer.seek(0)
        found = answer.readline().rstrip(b"\n")
        if found != header:
            raise Failure(f"{name}: unexpected output {found!r}",
                          note="install the programs and the scripts of one version of Frontload")
        yield answer, said


def llvm_tool(name: str, otherwise: str = "put them in PATH") -> Path:
    """The path of LLVM's program `name`: of Debian's newest LLVM, else from PATH; `otherwise` is
    the remedy if there is none."""
    installed = sorted(Path("/usr/lib").glob(f"llvm-*/bin/{name}"),
                       key=lambda path: (len(path.parts[3]), path.parts[3]))
    found = installed[-1] if installed else shutil.which(name)
    if found is None:
        raise Failure(f"{name}: not found", note=f"install LLVM's tools (llvm-22), or {otherwise}")
    return Path(found)


def program(name: str, remedy: str) -> Path:
    """The path of a third-party program; a Failure with `remedy` if it is not in PATH."""
    found = shutil.which(name)
    if found is None:
        raise Failure(f"{name}: not found", note=remedy)
    return Path(found)
