"""A device of its own for the measured files: ext4 on a loop device whose file is all in memory.

Alone there, a variant's reads meet no other traffic, the readahead is what we say, and the kernel
can throttle the device without slowing anything else. The loop device reads its backing file
through the page cache, and that file is locked there: the plain device costs what the block layer
and a copy cost, on every machine, and not what some disk happens to cost.

The file system is mounted in a private mount namespace, and the loop device releases itself when
it is unmounted. So even after SIGKILL nothing stays but the backing file, which the next run
removes.
"""

import ctypes
import os
import shutil
import time
from contextlib import ExitStack, closing
from pathlib import Path

from frontload import pagecache
from frontload.errors import Failure

from coldbench.processes import check_call

READ_AHEAD_KIB = 128  # the kernel's own default
_CLONE_NEWNS = 0x20000
_MNT_DETACH = 2
_UNMOUNT_TRIES = 100
_libc = ctypes.CDLL(None, use_errno=True)


def obstacle() -> str | None:
    """Why this process cannot have a device; None if it can."""
    if os.geteuid() != 0:
        return "a loop device needs root"
    for tool in ("mkfs.ext4", "mount"):
        if shutil.which(tool, path="/usr/sbin:/sbin:" + os.environ["PATH"]) is None:
            return f"a loop device needs the program {tool}"
    if not_private := mounts_obstacle():
        return not_private
    if not os.path.exists("/dev/loop-control"):
        return "this kernel or container has no loop devices (/dev/loop-control is missing)"
    return None


def mounts_obstacle() -> str | None:
    """Why root cannot have mounts here that nobody else sees; None if it can."""
    if not root_is_mount_point(Path("/proc/self/mountinfo").read_text()):
        return "mounts are private only below a mount point, and / is none (a plain chroot)"
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
    """Within `with`, `files` have copies in the folder `mounted`, on device `number` (7:1)."""

    def __init__(self, folder: Path, files: list[Path]):
        self._files = files
        self._image = folder / "device.img"
        self.mounted = folder / "device"
        self.number = ""
        self._cleaning = ExitStack()

    def __enter__(self) -> "ColdDevice":
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        with self._cleaning:
            self._make()
            self._cleaning = self._cleaning.pop_all()  # all went well: clean at the end, not now
        return self

    def __exit__(self, *problem) -> None:
        self._cleaning.close()

    def _make(self) -> None:
        _private_mounts()
        self._cleaning.callback(self._image.unlink, missing_ok=True)
        size = sum(file.stat().st_size for file in self._files)
        with open(self._image, "wb") as image:
            image.truncate(size + size // 16 + (64 << 20))
        # Blocks of a page also on a small device: smaller ones split a page's read into several.
        check_call(["mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-O", "^has_journal",
                    self._image])
        self.mounted.mkdir(exist_ok=True)
        self._cleaning.callback(self.mounted.rmdir)
        check_call(["mount", "-t", "ext4", "-o", "loop,noatime", self._image, self.mounted])
        self._cleaning.callback(_unmount, self.mounted)
        device = os.stat(self.mounted).st_dev
        self.number = f"{os.major(device)}:{os.minor(device)}"
        settings = Path("/sys/dev/block") / self.number
        if (settings / "loop/dio").read_text().strip() != "0":
            raise Failure(f"{self._image}: the loop device reads past the page cache")
        # The device is somebody else's afterwards, and keeps this setting.
        ahead = settings / "queue/read_ahead_kb"
        self._cleaning.callback(ahead.write_text, ahead.read_text())
        ahead.write_text(str(READ_AHEAD_KIB))
        for file in self._files:
            shutil.copy2(file, self.mounted / file.name)
        check_call(["mount", "-o", "remount,ro", self.mounted])
        with open(self._image, "rb") as image:
            os.fsync(image.fileno())
        self._cleaning.enter_context(closing(pagecache.lock(self._image)))
