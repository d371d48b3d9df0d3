"""A device of its own for the measured files: ext4 on a loop device whose file is all in memory.

Reads there meet no other traffic, we choose the readahead, and the kernel can throttle the device
alone. The loop device reads its backing file through the page cache, where the file is locked. So
on every machine a read costs the block layer and a copy, not the time of some disk.

Other file systems can be there instead: compressed images (image.py), EROFS that is not compressed,
and overlayfs above ext4.

The file system is mounted in a private mount namespace, and the loop device releases itself when
it is unmounted. So even after SIGKILL only the backing file stays, and the next run removes it.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.processes import check_call, run
from frontload.device import image
from frontload.device.covering import Covering, make_mounts_private, mounts_obstacle, unmount
from frontload.device.image import BTRFS, CHUNKS, EROFS, SQUASHFUSE, Image
from frontload.pagecache import cache, kernel, mounts

READ_AHEAD_KIB = 128  # the kernel's own default
EXT4, OVERLAY = "ext4", "overlay"
FILE_SYSTEMS = EXT4, EROFS, OVERLAY
_BLOCK = 4096
_TOOLS = "/usr/sbin:/sbin"  # not in every user's PATH


def obstacle(file_system: str = EXT4) -> str | None:
    """Why this process cannot have a device; None if it can."""
    if os.geteuid() != 0:
        return "a loop device needs root"
    held = image.parse(file_system)
    if held and held.format == CHUNKS:
        return "chunks can only be predicted"
    if held and (missing := held.obstacle()):
        return missing
    for tool in (*([] if held else ["mkfs.ext4"]), "mount"):
        if shutil.which(tool, path=f"{os.environ['PATH']}:{_TOOLS}") is None:
            return f"a loop device needs the program {tool}"
    if not_private := mounts_obstacle():
        return not_private
    if not os.path.exists("/dev/loop-control"):
        return "this kernel or container has no loop devices (/dev/loop-control is missing)"
    return None


class ColdDevice(Covering):
    """Within `with`, `files` have copies below the folder `mounted`, on device `number` (7:1). The
    backing file is made in `folder`."""

    def __init__(self, folder: Path, files: Iterable[Path], *,
                 read_ahead_kib: int = READ_AHEAD_KIB, file_system: str = EXT4):
        super().__init__(files, folder / "device")
        self._folder = folder
        self._file_system = file_system
        self._read_ahead_kib = read_ahead_kib
        self._image = folder / "device.img"

    def _make(self) -> None:
        path = os.environ["PATH"]
        self.cleaning.callback(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{path}:{_TOOLS}"
        make_mounts_private()
        self.cleaning.callback(self._image.unlink, missing_ok=True)
        if held := image.parse(self._file_system):
            self._make_image(held)
        elif self._file_system == OVERLAY:
            self._make_ext4(self._folder / "lower")
            self._make_overlay(self._folder / "lower")
        else:
            self._make_ext4(self.mounted)
        with open(self._image, "rb") as stream:
            os.fsync(stream.fileno())
        self.cleaning.enter_context(closing(kernel.lock(self._image)))

    def _reserve(self) -> None:
        files = self.files
        size = sum(file.stat().st_size for file in files)
        with open(self._image, "wb") as stream:
            stream.truncate(size + size // 16 + len(files) * _BLOCK + (128 << 20))

    def _make_ext4(self, place: Path, packed: Path | None = None) -> None:
        self._reserve()
        # Blocks of a page, also on a small device: smaller ones split a page's read into several.
        check_call(["mkfs.ext4", "-q", "-F", "-b", str(_BLOCK), "-m", "0", "-O", "^has_journal",
                    self._image])
        self._mount(EXT4, place, "loop,noatime")
        if packed:
            shutil.copy2(packed, place)
        else:
            self.copy(place)
        check_call(["mount", "-o", "remount,ro", place])

    def _make_image(self, held: Image) -> None:
        if held.format == BTRFS:
            self._reserve()
            made = run(["mkfs.btrfs", "-q", self._image])  # which has a note for everyone
            if made.status:
                raise Failure(f"mkfs.btrfs: {made.stderr.strip()}", note="choose another image")
            self._mount(BTRFS, self.mounted, f"loop,noatime,compress-force={held.compressor}")
            self.copy(self.mounted)
            check_call(["mount", "-o", "remount,ro", self.mounted])
            return
        contents = self._folder / "contents"
        contents.mkdir()
        self.cleaning.callback(shutil.rmtree, contents, ignore_errors=True)
        self.copy(contents)
        if held.format == SQUASHFUSE:  # as an AppImage's runtime: the image is a file
            packed = self._folder / "packed"
            held.make(contents, packed)
            self.cleaning.callback(packed.unlink)
            self._make_ext4(self._folder / "lower", packed)
            self.mounted.mkdir()
            self.cleaning.callback(self.mounted.rmdir)
            cache.try_to_drop(self._folder / "lower/packed")
            check_call(["squashfuse", "-o", "allow_other", self._folder / "lower/packed",
                        self.mounted])
            self.cleaning.callback(unmount, self.mounted)
            return
        held.make(contents, self._image)
        self._mount(held.format, self.mounted, "loop,ro")

    def _make_overlay(self, lower: Path) -> None:
        """As in a container: written files go to another layer."""
        for name in ("upper", "work"):
            (self._folder / name).mkdir()
            self.cleaning.callback(shutil.rmtree, self._folder / name, ignore_errors=True)
        self.mounted.mkdir()
        self.cleaning.callback(self.mounted.rmdir)
        check_call(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={lower},"
                    f"upperdir={self._folder / 'upper'},workdir={self._folder / 'work'}",
                    self.mounted])
        self.cleaning.callback(unmount, self.mounted)

    def _mount(self, file_system: str, place: Path, options: str) -> None:
        """Mounts the image, and sets its device up."""
        place.mkdir(exist_ok=True)
        self.cleaning.callback(place.rmdir)
        check_call(["mount", "-t", file_system, "-o", options, self._image, place])
        self.cleaning.callback(unmount, place)
        device = os.stat(mounts.mount_source(place)).st_rdev
        self.number = f"{os.major(device)}:{os.minor(device)}"
        settings = Path("/sys/dev/block") / self.number
        if (settings / "loop/dio").read_text("ascii").strip() != "0":
            raise Failure(f"{self._image}: the loop device bypasses the page cache",
                          note="set TMPDIR to a folder on another file system")
        # Later users of the loop device would get this setting.
        ahead = settings / "queue/read_ahead_kb"
        self.cleaning.callback(ahead.write_text, ahead.read_text("ascii"), "ascii")
        ahead.write_text(str(self._read_ahead_kib), "ascii")
