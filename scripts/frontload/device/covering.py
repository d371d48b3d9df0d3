"""Copies that take the places of files, for this process and its children.

The copies lie in a folder of their own, in the same relative places, so that a program finds its
neighbors ($ORIGIN). Mounts of single files, in a private mount namespace, put each copy in the
place of its file.
"""

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from frontload.base.files import read_text
from frontload.base.typed import Self

_CLONE_NEWNS = 0x20000
_OWN_MOUNTS = "/proc/self/ns/mnt"
_MNT_DETACH = 2
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_MAX_UNMOUNT_TRIES = 100
_libc = ctypes.CDLL(None, use_errno=True)


def mounts_obstacle() -> str | None:
    """Why this process cannot have private mounts; None if it can. Tried in a child, because users,
    capabilities and system call filters interact."""
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
    # mount(8) requires root; in a user namespace we may only have capabilities.
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
    """Unmounts, also if a process that just ended still holds the folder: readers of /proc keep a
    process's mappings for a moment longer than it lives."""
    for _ in range(_MAX_UNMOUNT_TRIES):
        if _libc.umount2(os.fsencode(folder), 0) == 0:
            return
        time.sleep(0.05)
    _libc.umount2(os.fsencode(folder), _MNT_DETACH)


class Covering:
    """Within `with`, the copies of `files` lie below the folder `mounted`."""

    outside = -1  # an open file: the mount namespace before, where nothing is covered
    number = ""  # of the device that the copies are on: 7:1

    def __init__(self, files: Iterable[Path], mounted: Path):
        # /proc/self/exe has no links, but a program may also find itself by its name.
        self._links = {Path(os.path.abspath(file)): Path(os.path.realpath(file))
                       for file in files}
        self._top = Path(os.path.commonpath([path.parent for pair in self._links.items()
                                             for path in pair]))
        self.mounted = mounted
        self.cleaning = ExitStack()

    def _make(self) -> None:
        """Makes the place of the copies, and copies the files; `cleaning` undoes it."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        with self.cleaning:
            self.outside = os.open(_OWN_MOUNTS, os.O_RDONLY)
            self.cleaning.callback(os.close, self.outside)
            self._make()
            self.cleaning = self.cleaning.pop_all()  # success: clean at the end, not now
        return self

    def __exit__(self, *problem) -> None:
        self.cleaning.close()

    @property
    def files(self) -> list[Path]:
        """The copied files, without links."""
        return sorted(set(self._links.values()))

    def place(self, file: os.PathLike[str] | str) -> Path:
        """The path of a file's copy."""
        return self.mounted / self.inside(file)

    def inside(self, file: os.PathLike[str] | str) -> Path:
        """The path of a file's copy, relative to `mounted`."""
        return Path(os.path.abspath(file)).relative_to(self._top)

    def copy(self, folder: Path) -> None:
        """Copies the files, and links to them, into `folder`, which is or will be `mounted`."""
        for file in self.files:
            copy = folder / self.inside(file)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        for link, file in self._links.items():
            if link != file:
                copy = folder / self.inside(link)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.symlink_to(self.place(file))

    def cover(self, whole: Iterable[Path] = ()) -> None:
        """Puts each copy in the place of its file, for this process and those that it starts. Of
        folders that were copied as a `whole`, the folder: inotify reports no reads in a folder
        where each file is a mount of its own."""
        folders = list(whole)
        inside = {file for folder in folders for file in self.files if folder in file.parents}
        for path in [*folders, *(file for file in self.files if file not in inside)]:
            _mount(self.place(path), path, _MS_BIND)
            self.cleaning.callback(unmount, path)
