"""Makes the initial file system of the emulated machine: what Debian's kernel, all of whose drivers
are modules, needs before it can mount a disk.

It is an archive in cpio's "newc" format (the kernel's Documentation/driver-api/early-userspace/
buffer-format.rst): a header of hexadecimal numbers, a name and contents for each file.
"""

import stat
from pathlib import Path

from elftools.elf.elffile import ELFFile

# What a disk of QEMU's machine `virt` needs, and what is on it.
_WANTED = ("virtio_mmio", "virtio_blk", "ext4", "crc32c_generic")
_INIT = """#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
# A kernel that was built for this has no use for modules.
for module in /modules/*; do /bin/busybox insmod "$module" 2>/dev/null; done
/bin/busybox mount -t ext4 /dev/vda /disk && exec /bin/busybox switch_root /disk INIT
/bin/busybox poweroff -f
"""


def make(root: Path, init: str) -> bytes:
    """With the busybox and the modules of a root folder, on whose disk `init` is to run."""
    archive = _Archive()
    for folder in ("bin", "dev", "disk", "modules"):
        archive.add(folder, stat.S_IFDIR | 0o755)
    archive.add("bin/busybox", stat.S_IFREG | 0o755, (root / "bin/busybox").read_bytes())
    archive.add("init", stat.S_IFREG | 0o755, _INIT.replace("INIT", init).encode())
    for number, module in enumerate(_in_order(root)):
        archive.add(f"modules/{number:02}-{module.name}", stat.S_IFREG | 0o644,
                    module.read_bytes())
    return archive.finished()


def _in_order(root: Path) -> list[Path]:
    """The modules, each after those that it needs."""
    files = {path.stem.replace("-", "_"): path for path in (root / "lib/modules").rglob("*.ko")}
    order: list[Path] = []

    def add(name: str) -> None:
        if name in files and files[name] not in order:
            for needed in _needed(files[name]):
                add(needed)
            order.append(files[name])

    for name in _WANTED:
        add(name)
    return order


def _needed(module: Path) -> list[str]:
    with module.open("rb") as stream:
        words = ELFFile(stream).get_section_by_name(".modinfo").data().split(b"\0")
    (names,) = (word.removeprefix(b"depends=") for word in words if word.startswith(b"depends="))
    return [name.replace("-", "_") for name in names.decode().split(",") if name]


class _Archive:
    def __init__(self) -> None:
        self._data = bytearray()
        self._number = 0

    def add(self, name: str, mode: int, contents: bytes = b"") -> None:
        self._number += 1
        fields = (self._number, mode, 0, 0, 1, 0, len(contents), 0, 0, 0, 0, len(name) + 1, 0)
        self._data += b"070701" + b"".join(b"%08x" % field for field in fields)
        for part in (name.encode() + b"\0", contents):
            self._data += part + bytes(-(len(self._data) + len(part)) % 4)

    def finished(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return bytes(self._data)
