"""Records what a start touches of all its files without root.

The copies of the files lie in a FUSE file system of our own (frontload-lazyfs --log), which is
mounted in a user namespace. It reads nothing ahead, and logs each read of the kernel. The kernel
keeps what it has read, so these are the touched pages, in the order of first touch. Unlike perf
(record.py), the log does not show whether a mapping or read(2) touched them: that is guessed by the
kind of the file. The wrapper of the command (setpriv) reads a few pages of the C library first.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from frontload.base import processes, tools
from frontload.base.errors import Failure
from frontload.base.ready import Ready
from frontload.base.scratch import scratch_folder
from frontload.device import lazy
from frontload.measure import seen
from frontload.measure.launcher import Launcher, Sample
from frontload.reading.listing import MAP, PAGE, READ, File, ReadingList, Touch
from frontload.reading.record import identity

_CAP_SYS_ADMIN = 21
_NAMESPACE = ("unshare", "--user", "--map-current-user", "--mount", "--keep-caps")
# The command does not need the user's rights in such a namespace.
_WITHOUT_RIGHTS = ("setpriv", "--ambient-caps=-all", "--inh-caps=-all")
_MAX_AT_ONCE = 16


def obstacle() -> str | None:
    """Why a user cannot record here; None if they can."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse is missing, or not yours to use"
    if tools.find_tool("frontload-lazyfs") is None:
        return "frontload-lazyfs is not found: Frontload was built without libfuse3"
    try:
        tried = processes.run([*_NAMESPACE, "true"])
    except Failure as problem:
        return problem.message
    return tried.stderr.strip() or "unshare failed" if tried.status else None


def may_mount() -> bool:
    """Whether this process is in a namespace of its own."""
    return processes.has_capability(_CAP_SYS_ADMIN)


def enter_namespace() -> None:
    """Runs this program again where it may mount. A process with threads, which numpy starts,
    cannot enter a user namespace itself."""
    if reason := obstacle():
        raise Failure(f"without root, files cannot be recorded here: {reason}",
                      note="see `frontload info`, or record as root")
    os.execvp(_NAMESPACE[0], [*_NAMESPACE, str(tools.tool("frontload")), *sys.argv[1:]])


def record(command: Sequence[str], ready: Ready | None = None) -> tuple[ReadingList, Sample]:
    """The touches of one start of the command; to be called where one may mount."""
    launcher = Launcher(end_with_us=True, ready=ready).below(*_WITHOUT_RIGHTS)
    opened = seen.opened(command, launcher, only_read=True)
    identities = {path: identity(path) for path in opened}
    with scratch_folder("frontload-device.") as folder:
        log = folder / "log"
        with lazy.LazyFiles(folder, map(Path, opened), latency_ms=0, parallel=_MAX_AT_ONCE,
                            log=log) as own:
            own.cover()
            sample = launcher.run(command)
            places = {os.fsencode(own.inside(path)): path for path in opened}
        found = _made(log.read_bytes(), {name: identities[path] for name, path in places.items()})
    return found, sample


def _made(log: bytes, files: dict[bytes, File]) -> ReadingList:
    """The list from a log; its lines have the offset, the size, and the name of a file. A name may
    have newlines: lines without a known file are left out."""
    found = ReadingList(runs=1)
    rank = 0
    for line in log.split(b"\n"):
        fields = line.split(b" ", 2)
        file = files.get(fields[2]) if len(fields) == 3 else None
        if file is None or not fields[0].isdigit() or not fields[1].isdigit():
            continue
        offset, size = int(fields[0]), int(fields[1])
        pages = found.pages.setdefault(file, {})
        for page in range(offset // PAGE, -(-min(offset + size, file.size) // PAGE)):
            if page not in pages:
                pages[page] = Touch(rank, 1, MAP if file.build_id else READ)
                rank += 1
    return found
