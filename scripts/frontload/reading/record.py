"""Records what a start touches of all its files, page by page.

Copies of the files lie in a FUSE file system of our own (frontload-lazyfs --log), which reads
nothing ahead, and logs each read of the kernel. The kernel keeps what it has read, so these are the
touched pages, in the order of first touch. The log does not show whether a mapping or read(2)
touched them: files that a process maps are taken to be touched by that. Of an ELF file, the kernel
and the dynamic loader read the first page, and map the others.

A user without the right to mount does so in a user namespace. There a wrapper of the command
(setpriv) reads a few pages of the C library first.
"""

import itertools
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from frontload.base import processes, tools
from frontload.base.errors import Failure
from frontload.base.ready import Ready
from frontload.base.scratch import scratch_folder
from frontload.device import lazy
from frontload.elf import file as elf
from frontload.measure import seen
from frontload.measure.launcher import Launcher, Sample
from frontload.reading.listing import (
    MAP,
    PAGE,
    READ,
    SUFFIX,
    File,
    PrefetchList,
    Touch,
    to_bytes,
)

_NAMESPACE = ("unshare", "--user", "--map-current-user", "--mount", "--keep-caps")
# The command does not need the user's rights in such a namespace.
_WITHOUT_RIGHTS = ("setpriv", "--ambient-caps=-all", "--inh-caps=-all")
_MAX_AT_ONCE = 16


def may_mount() -> bool:
    """Whether this process may mount: as root, or in a namespace of its own."""
    return processes.has_capability(processes.CAP_SYS_ADMIN)


def enter_namespace() -> None:
    """Runs this program again where it may mount. A process with threads, which numpy starts,
    cannot enter a user namespace itself."""
    tried = processes.run([*_NAMESPACE, "true"])
    if tried.status:
        raise _refusal(tried.stderr.strip() or "unshare failed")
    os.execvp(_NAMESPACE[0], [*_NAMESPACE, str(tools.tool("frontload")), *sys.argv[1:]])


def _refusal(reason: str) -> Failure:
    without = "without root, " if os.geteuid() else ""
    return Failure(f"{without}files cannot be recorded here: {reason}",
                   note="see `frontload info`" + (", or record as root" if without else ""))


def record(command: Sequence[str], ready: Ready | None = None) -> tuple[PrefetchList, Sample]:
    """The touches of one start of the command; to be called where one may mount."""
    if reason := lazy.obstacle():
        raise _refusal(reason)
    launcher = Launcher(end_with_us=True, ready=ready)
    opened = seen.opened(command, launcher, only_read=True)
    identities = {path: identity(path) for path in opened}
    with scratch_folder("frontload-device.") as folder:
        log = folder / "log"
        with lazy.LazyFiles(folder, map(Path, opened), latency_ms=0, parallel=_MAX_AT_ONCE,
                            log=log) as own:
            launcher = (launcher.below(*_WITHOUT_RIGHTS) if os.geteuid() else
                        Launcher(end_with_us=True, ready=ready, outside=own.outside))
            own.cover()
            sample = launcher.run(command)
            places = {os.fsencode(own.inside(path)): path for path in opened}
        found = _made(log.read_bytes(), {name: (identities[path], opened[path])
                                         for name, path in places.items()})
    return found, sample


def write(listing: PrefetchList, command: str, folder: os.PathLike[str] | str) -> Path:
    """Writes a list into a folder, under the name of the command and a free number."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = itertools.count(1)
    while True:
        path = folder / f"{os.path.basename(command)}.{next(numbers)}{SUFFIX}"
        with suppress(FileExistsError), open(path, "xb") as file:
            file.write(to_bytes(listing))
            return path


def identity(path: str) -> File:
    """The present state of a file."""
    status = os.stat(path)
    try:
        build_id = elf.read(path).build_id.hex()
    except Failure:
        build_id = ""
    return File(path, status.st_size, status.st_mtime_ns, build_id)


def _made(log: bytes, files: dict[bytes, tuple[File, bool]]) -> PrefetchList:
    """The list from a log and the files, each with whether a process maps it. The log's lines have
    the offset, the size, and the name of a file. A name may have newlines: lines without a known
    file are left out."""
    found = PrefetchList(runs=1)
    rank = 0
    for line in log.split(b"\n"):
        fields = line.split(b" ", 2)
        file, is_mapped = files.get(fields[2], (None, False)) if len(fields) == 3 else (None, False)
        if file is None or not fields[0].isdigit() or not fields[1].isdigit():
            continue
        offset, size = int(fields[0]), int(fields[1])
        pages = found.pages.setdefault(file, {})
        for page in range(offset // PAGE, -(-min(offset + size, file.size) // PAGE)):
            if page not in pages:
                is_mapping = page if file.build_id else is_mapped
                pages[page] = Touch(rank, 1, MAP if is_mapping else READ)
                rank += 1
    return found
