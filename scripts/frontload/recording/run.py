"""The command lines of the recorders, and one run of a command into a folder of traces."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from frontload.base import errors, processes, tools
from frontload.base.errors import EXIT_VERDICT, Diagnostics, Failure
from frontload.base.ready import Ready
from frontload.profile import trace
from frontload.recording.watched import Watched


def pattern_in(folder: Path) -> str:
    """The pattern by which recorders name the traces in a folder."""
    # The command may change its folder, and % has a meaning in the pattern.
    return os.path.join(str(folder.resolve()).replace("%", "%%"), "%m.%p" + trace.SUFFIX)


def recorder(pattern: str, *, data: bool = False, blocks: bool = False,
             modules: Sequence[str] = (), program: str | None = None, until: str | None = None,
             role: str | None = None) -> list[str]:
    """The prefix that runs a command and records it, or only the processes of a program in it. The
    recorder of data always records basic blocks."""
    options = [f"--module={name}" for name in modules]
    if program:
        options.append(f"--program={program}")
    if until:
        options.append(f"--until={until}")
    if role:
        options.append(f"--role={role}")
    if blocks and not data:
        options.append("--blocks")
    tool = tools.tool("frontload-valgrind" if data else "frontload-trace")
    return [str(tool), f"--output={pattern}", *options, "--"]


def run(words: list[str], output: Path | str, diagnostics: Diagnostics, *, data: bool = False,
        blocks: bool = False, modules: Sequence[str] = (), program: str | None = None,
        until: str | None = None, role: str | None = None, ready: Ready | None = None) -> int:
    """Records a command, or only a `program` in it, by breakpoints, in functions or `blocks`, or in
    valgrind with `data`; returns its exit status. The recording ends when the command enters the
    function `until`. With `ready` the command is ended at that event, or in that function, and the
    status is 0."""
    before = recorder(pattern_in(Path(output)), data=data, blocks=blocks, modules=modules,
                      program=program, until=until, role=role)
    return _record(words, output, diagnostics, before=before, ready=ready,
                   has_end=until is not None)


def run_with_runtime(words: list[str], output: Path | str, diagnostics: Diagnostics, *,
                     role: str | None = None, ready: Ready | None = None) -> int:
    """The same for a program that records itself with libfrontload-rt."""
    variables = {"FRONTLOAD_TRACE": pattern_in(Path(output))}
    if role:
        variables["FRONTLOAD_ROLE"] = role
    return _record(words, output, diagnostics,
                   "build the program with -finstrument-functions and link libfrontload-rt",
                   ready=ready, variables=variables)


def _record(words: list[str], output: Path | str, diagnostics: Diagnostics,
            if_nothing_came: str | None = None, *, before: Sequence[str] = (),
            ready: Ready | None = None, has_end: bool = False,
            variables: Mapping[str, str] = {}) -> int:
    folder = Path(output)
    environment = tools.environment_of_user()
    is_new_folder = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Failure(f"{folder}: no permission to write there",
                      note="choose another folder with -o")
    earlier = _traces(folder)
    environment |= variables
    if ready:
        with Watched(ready, has_end, lambda: _new(folder, earlier), name=words[0]) as watched:
            status = processes.run_in_foreground([*watched.prefix, *before, *words], environment,
                                                 watched.until_ready)
    else:
        status = processes.run_in_foreground([*before, *words], environment)
    written = _new(folder, earlier)
    touches = 0
    roles: Counter[tuple[str, str]] = Counter()
    for path in written:
        try:
            read = trace.read(path)
            touches += len(read.kinds)
            if read.role and read.main:
                roles[read.main.name, read.role] += 1
        except Failure as problem:
            diagnostics.warning(str(problem))
    if written:
        diagnostics.note(f"{errors.count(len(written), 'trace')} with "
                         f"{errors.count(touches, 'first touch', 'first touches')} in {output}")
        if roles:
            told = [f"{program} as {role} ({count})"
                    for (program, role), count in sorted(roles.items())]
            diagnostics.note(f"with a role: {', '.join(told)}")
        return status
    if is_new_folder:
        with suppress(OSError):
            folder.rmdir()
    raise Failure(f"{output}: no trace was written", code=status or EXIT_VERDICT,
                  note=if_nothing_came)


def _new(folder: Path, before: dict[Path, tuple[int, int, int]]) -> list[Path]:
    return [path for path, identity in _traces(folder).items() if before.get(path) != identity]


def _traces(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """The traces in a folder, with what tells new ones from older ones."""
    found = {}
    for path in trace.find(folder):
        status = path.stat()
        found[path] = status.st_ino, status.st_size, status.st_mtime_ns
    return found
