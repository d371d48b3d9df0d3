"""A device of its own for the measured files: ext4 on a loop device whose file is all in memory.

There, a variant's reads meet no other traffic, we choose the readahead, and the kernel can throttle
the device without slowing anything else. The loop device reads its backing file through the page
cache, and that file is locked there. So on every machine the plain device costs what the block
layer and a copy cost, and not what some disk happens to cost.

The file system is mounted in a private mount namespace, and the loop device releases itself when
it is unmounted. So even after SIGKILL only the backing file stays, and the next run removes it.
"""

import ctypes
import os
import shutil
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.files import read_text
from frontload.base.processes import check_call
from frontload.pagecache import kernel

READ_AHEAD_KIB = 128  # the kernel's own default
_BLOCK = 4096
_TOOLS = "/usr/sbin:/sbin"  # is not in everybody's PATH
_CLONE_NEWNS = 0x20000
_MNT_DETACH = 2
_MS_BIND = 4096
_UNMOUNT_TRIES = 100
_libc = ctypes.CDLL(None, use_errno=True)


def obstacle() -> str | None:
    """Why this process cannot have a device; None if it can."""
    if os.geteuid() != 0:
        return "a loop device needs root"
    for tool in ("mkfs.ext4", "mount"):
        if shutil.which(tool, path=f"{os.environ['PATH']}:{_TOOLS}") is None:
            return f"a loop device needs the program {tool}"
    if not_private := mounts_obstacle():
        return not_private
    if not os.path.exists("/dev/loop-control"):
        return "this kernel or container has no loop devices (/dev/loop-control is missing)"
    return None


def mounts_obstacle() -> str | None:
    """Why root cannot have mounts here that nobody else sees; None if it can."""
    if not root_is_mount_point(read_text("/proc/self/mountinfo")):
        return "/ is not a mount point (a plain chroot), so mounts cannot be private"
    return None


def root_is_mount_point(mounts: str) -> bool:
    """Whether mountinfo's text has an entry for our root."""
    return any(line.split()[4] == "/" for line in mounts.splitlines())


def _private_mounts() -> None:
    if _libc.unshare(_CLONE_NEWNS):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "mount namespace")
    check_call(["mount", "--make-rprivate", "/"])


def _unmount(folder: Path) -> None:
    """Unmounts, also if something that has just ended is not quite gone.

    Whoever looks at a process in /proc holds its mappings for a moment longer than it lives.
    """
    for _ in range(_UNMOUNT_TRIES):
        if _libc.umount2(os.fsencode(folder), 0) == 0:
            return
        time.sleep(0.05)
    _libc.umount2(os.fsencode(folder), _MNT_DETACH)


class ColdDevice:
    """Within `with`, `files` have copies below the folder `mounted`, on device `number` (7:1).

    The copies lie to each other as the files do, so that what a program finds beside itself
    ($ORIGIN) it finds there too; `place` tells where. The backing file is made in `folder`.
    """

    def __init__(self, folder: Path, files: Iterable[Path], *,
                 read_ahead_kib: int = READ_AHEAD_KIB):
        # A program finds itself by /proc/self/exe, which has no links, but may go by its name.
        self._links = {Path(os.path.abspath(file)): Path(os.path.realpath(file))
                       for file in files}
        self._top = Path(os.path.commonpath([path.parent for pair in self._links.items()
                                             for path in pair]))
        self._read_ahead_kib = read_ahead_kib
        self._image = folder / "device.img"
        self.mounted = folder / "device"
        self.number = ""
        self._cleaning = ExitStack()

    def place(self, file: os.PathLike | str) -> Path:
        """Where the copy of one of the files is."""
        return self.mounted / Path(os.path.abspath(file)).relative_to(self._top)

    def set_read_ahead(self, kib: int) -> None:
        """From here on; only while the device exists."""
        (Path("/sys/dev/block") / self.number / "queue/read_ahead_kb").write_text(str(kib), "ascii")

    def cover(self) -> None:
        """Puts each copy in the place of its file, for this process and those that it starts."""
        for file in sorted(set(self._links.values())):
            if _libc.mount(os.fsencode(self.place(file)), os.fsencode(file), None, _MS_BIND, None):
                error = ctypes.get_errno()
                raise OSError(error, os.strerror(error), str(file))
            self._cleaning.callback(_unmount, file)

    def __enter__(self) -> "ColdDevice":
        with self._cleaning:
            self._make()
            self._cleaning = self._cleaning.pop_all()  # all went well: clean at the end, not now
        return self

    def __exit__(self, *problem) -> None:
        self._cleaning.close()

    def _make(self) -> None:
        path = os.environ["PATH"]
        self._cleaning.callback(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{path}:{_TOOLS}"
        _private_mounts()
        self._cleaning.callback(self._image.unlink, missing_ok=True)
        files = sorted(set(self._links.values()))
        size = sum(file.stat().st_size for file in files)
        with open(self._image, "wb") as image:
            image.truncate(size + size // 16 + len(files) * _BLOCK + (64 << 20))
        # Blocks of a page also on a small device: smaller ones split a page's read into several.
        check_call(["mkfs.ext4", "-q", "-F", "-b", str(_BLOCK), "-m", "0", "-O", "^has_journal",
                    self._image])
        self.mounted.mkdir(exist_ok=True)
        self._cleaning.callback(self.mounted.rmdir)
        check_call(["mount", "-t", "ext4", "-o", "loop,noatime", self._image, self.mounted])
        self._cleaning.callback(_unmount, self.mounted)
        device = os.stat(self.mounted).st_dev
        self.number = f"{os.major(device)}:{os.minor(device)}"
        settings = Path("/sys/dev/block") / self.number
        if (settings / "loop/dio").read_text("ascii").strip() != "0":
            raise Failure(f"{self._image}: the loop device bypasses the page cache",
                          note="set TMPDIR to a folder on another file system")
        # The device is somebody else's afterwards, and keeps this setting.
        ahead = settings / "queue/read_ahead_kb"
        self._cleaning.callback(ahead.write_text, ahead.read_text("ascii"), "ascii")
        self.set_read_ahead(self._read_ahead_kib)
        for file in files:
            self.place(file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, self.place(file))
        for link, file in self._links.items():
            if link != file:
                self.place(link).parent.mkdir(parents=True, exist_ok=True)
                self.place(link).symlink_to(self.place(file))
        check_call(["mount", "-o", "remount,ro", self.mounted])
        with open(self._image, "rb") as image:
            os.fsync(image.fileno())
        self._cleaning.enter_context(closing(kernel.lock(self._image)))
