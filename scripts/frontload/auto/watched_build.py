"""Sees a build link a program: runs the build command under strace, and reads what it executes.

A build that is up to date links nothing. Then we make the program look old (modification time 1970)
and run the build again: build systems that compare times link it. We do that only to a program that
may be of this build. An installed program never is: it may only start the one that is meant. We
keep a copy until the build has linked the program again. If that fails, the copy takes the
program's place, with its old time. The program is never removed.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from frontload.auto import link_command
from frontload.auto.link_command import LinkCommand
from frontload.auto.programs import is_of_system
from frontload.base.errors import Diagnostics, Failure
from frontload.base.processes import run
from frontload.base.scratch import scratch_folder
from frontload.tracing import strace

_REMEDY = "install strace (apt-get install strace), and allow ptrace; or give --link"
_MAX_ARGUMENT = 1 << 17  # Linux's limit
_CALLS = "execve", "chdir", "fchdir"


def links(build: str, folder: str, program: str, diagnostics: Diagnostics) -> list[LinkCommand]:
    """The links of `program` that the build command does, run in `folder`."""
    diagnostics.note(f"building, watched by strace: {build}")
    found = _watch(build, folder, program)
    if not found and os.path.exists(program) and not is_of_system(program):
        diagnostics.note(f"{program} is up to date: building it once more, as if it were old")
        with _looking_old(program):
            found = _watch(build, folder, program)
    return found


@contextmanager
def _looking_old(program: str) -> Iterator[None]:
    """Within `with`, the program's time is 1970; restored if the program is not linked."""
    before = os.stat(program)
    handle, copy = tempfile.mkstemp(prefix=f".{os.path.basename(program)}.",
                                    dir=os.path.dirname(program))
    os.close(handle)
    try:
        shutil.copy2(program, copy)
        os.utime(program, (0, 0))
        yield
    finally:
        after = os.stat(program) if os.path.exists(program) else None
        if after is None or after.st_size == 0 or after.st_mtime == 0:
            os.replace(copy, program)
            os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))
        else:
            os.unlink(copy)


def _watch(build: str, folder: str, program: str) -> list[LinkCommand]:
    with scratch_folder("frontload-auto.") as scratch:
        log = scratch / "calls"
        watching = strace.watching(_CALLS, log, "-f", "-s", str(_MAX_ARGUMENT), remedy=_REMEDY)
        result = run([*watching, "sh", "-c", build], directory=folder, shown=True)
        if not log.exists():
            raise Failure(f"{build}: strace could not watch it", note=_REMEDY)
        if result.status:
            raise Failure(f"{build}: exited with status {result.status}",
                          note="give a --build command that builds the program")
        text = log.read_text("ascii", "replace")
    return read_calls(text.splitlines(), folder, program)


def read_calls(lines: Iterable[str], folder: str, program: str) -> list[LinkCommand]:
    """The links of a program in strace's text: those of compiler drivers, or else those of linkers,
    which an unknown driver may have started."""
    folders = [folder]
    drivers: list[LinkCommand] = []
    linkers: list[LinkCommand] = []
    for call in strace.calls(lines):
        if call.name in ("chdir", "fchdir"):
            folders.append(os.path.join(folder, call.path or call.base or "."))
        elif call.result in (0, None):  # None: strace told of another process before the result
            words = list(call.arguments)
            link = words and link_command.from_words(words, folder, "the build that was watched")
            if link and (directory := _where(link, folders, program)):
                found = LinkCommand(directory, link.arguments, link.source, link.environment)
                name = os.path.basename(link.arguments[0])
                (linkers if link_command.is_linker(name) else drivers).append(found)
    return drivers or linkers


def _where(link: LinkCommand, folders: Iterable[str], program: str) -> str | None:
    """The folder in which this command writes the program; None if it does not.

    strace does not show a process's folder. A path without `..` leads to the program from only one
    folder; for other paths we try all folders that any process entered.
    """
    output = link_command.output_of(link.arguments)
    target = os.path.realpath(program)
    if os.path.isabs(output):
        candidates = folders
    else:
        path = os.path.normpath(output)
        depth = len(Path(path).parts)
        above = list(Path(target).parents)
        own = [str(above[depth - 1])] if ".." not in path and depth <= len(above) else []
        candidates = [*own, *folders]
    for candidate in candidates:
        if os.path.realpath(os.path.join(candidate, output)) == target and _has_inputs(
                link, candidate):
            return candidate
    return None


def _has_inputs(link: LinkCommand, folder: str) -> bool:
    inputs = [word for word in link.arguments if word.endswith((".o", ".obj", ".a", ".lo"))
              and not word.startswith("-")]
    return all(os.path.exists(os.path.join(folder, word)) for word in inputs)
