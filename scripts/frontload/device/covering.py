"""Copies of files that take the places of these, for this process and those that it starts.

They lie in a folder of their own, to each other as the files do, so that what a program finds
beside itself ($ORIGIN) it finds there too. Mounts of single files, in a private mount namespace,
put each copy where its file is.
"""

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from frontload.base.files import read_text

_CLONE_NEWNS = 0x20000
_OWN_MOUNTS = "/proc/self/ns/mnt"
_MNT_DETACH = 2
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_UNMOUNT_TRIES = 100
_libc = ctypes.CDLL(None, use_errno=True)


def mounts_obstacle() -> str | None:
    """Why this process cannot have mounts that nobody else sees; None if it can. Tried in a process
    of its own, because users, capabilities and filters of system calls interact."""
    if not root_is_mount_point(read_text("/proc/self/mountinfo")):
        return "/ is not a mount point (a plain chroot), so mounts cannot be private"
    try:
        tried = subprocess.run(["unshare", "--mount", "--propagation=private", "true"],
                               stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                               errors="replace")
    except OSError as problem:
        return f"unshare: {problem.strerror}"
    if tried.returncode:
        return f"mounts cannot be private here: {tried.stderr.strip()}"
    return None


def root_is_mount_point(mounts: str) -> bool:
    """Whether mountinfo's text has an entry for our root."""
    return any(line.split()[4] == "/" for line in mounts.splitlines())


def make_mounts_private() -> None:
    _check(_libc.unshare(_CLONE_NEWNS), "mount namespace")
    # mount(8) wants root, which we may be in a namespace of users only by capabilities.
    _mount(None, "/", _MS_REC | _MS_PRIVATE)


def _mount(source: os.PathLike[str] | None, target: os.PathLike[str] | str, flags: int) -> None:
    _check(_libc.mount(source and os.fsencode(source), os.fsencode(target), None, flags, None),
           os.fspath(target))


def _check(result: int, what: str) -> None:
    if result:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)


def enter_mounts(mounts: int) -> None:
    """Enters a mount namespace that is open, and stays in the folder of the same name."""
    folder = os.getcwd()
    _check(_libc.setns(mounts, _CLONE_NEWNS), "mount namespace")
    os.chdir(folder)


def unmount(folder: Path) -> None:
    """Unmounts, also if something that has just ended is not quite gone.

    Whoever looks at a process in /proc holds its mappings for a moment longer than it lives.
    """
    for _ in range(_UNMOUNT_TRIES):
        if _libc.umount2(os.fsencode(folder), 0) == 0:
            return
        time.sleep(0.05)
    _libc.umount2(os.fsencode(folder), _MNT_DETACH)


class Covering:
    """Within `with`, the copies of `files` lie below the folder `mounted`."""

    outside = -1  # the mounts before, where nothing is covered; an open file

    def __init__(self, files: Iterable[Path], mounted: Path):
        # A program finds itself by /proc/self/exe, which has no links, but may go by its name.
        self._links = {Path(os.path.abspath(file)): Path(os.path.realpath(file))
                       for file in files}
        self._top = Path(os.path.commonpath([path.parent for pair in self._links.items()
                                             for path in pair]))
        self.mounted = mounted
        self.cleaning = ExitStack()

    def _make(self) -> None:
        """Makes what the copies lie on, and copies them; `cleaning` undoes it."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        with self.cleaning:
            self.outside = os.open(_OWN_MOUNTS, os.O_RDONLY)
            self.cleaning.callback(os.close, self.outside)
            self._make()
            self.cleaning = self.cleaning.pop_all()  # all went well: clean at the end, not now
        return self

    def __exit__(self, *problem) -> None:
        self.cleaning.close()

    @property
    def files(self) -> list[Path]:
        """Those that are copied, without links."""
        return sorted(set(self._links.values()))

    def place(self, file: os.PathLike[str] | str) -> Path:
        """Where the copy of one of the files is."""
        return self.mounted / self.inside(file)

    def inside(self, file: os.PathLike[str] | str) -> Path:
        """Where the copy of one of the files is, from `mounted`."""
        return Path(os.path.abspath(file)).relative_to(self._top)

    def copy(self, folder: Path) -> None:
        """Copies the files, and links to them, into a folder that is or will be `mounted`."""
        for file in self.files:
            copy = folder / self.inside(file)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        for link, file in self._links.items():
            if link != file:
                copy = folder / self.inside(link)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.symlink_to(self.place(file))

    def cover(self) -> None:
        """Puts each copy in the place of its file, for this process and those that it starts."""
        for file in self.files:
            _mount(self.place(file), file, _MS_BIND)
            self.cleaning.callback(unmount, file)
