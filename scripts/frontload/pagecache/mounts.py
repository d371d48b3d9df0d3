"""Where a file is kept, and who holds its pages: why some of them do not leave the page cache."""

import os
import re
from pathlib import Path

IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}


def file_system(path: os.PathLike[str] | str) -> str:
    """The type of the file system a file is on."""
    return _mount(path)[0]


def mount_source(path: os.PathLike[str] | str) -> str:
    """The source of the mount that a file is on."""
    return _mount(path)[1]


def _mount(path: os.PathLike[str] | str) -> tuple[str, str]:
    mounts = Path("/proc/self/mountinfo").read_bytes()
    return mount_in(mounts, os.path.realpath(os.fsencode(path)))


def mount_in(mounts: bytes, path: bytes) -> tuple[str, str]:
    """The type and source of a file's file system, from mountinfo's text: the longest mount point
    above the path decides, and the last of several on top of each other. (Device numbers would not
    do: those of files on btrfs are not in the table.)"""
    best, found = b"", (b"unknown", b"none")
    for line in mounts.splitlines():
        fields, _, tail = line.partition(b" - ")
        point = _unescape(fields.split()[4])
        if os.path.commonpath([path, point]) == point and len(point) >= len(best):
            kind, source = tail.split()[:2]
            best, found = point, (kind, _unescape(source))
    return os.fsdecode(found[0]), os.fsdecode(found[1])


def _unescape(field: bytes) -> bytes:
    return re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), field)


def mapped_by(path: os.PathLike[str] | str) -> list[str]:
    """The processes that map a file, as far as we may see, as `name (pid)`."""
    status = os.stat(path)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    found = []
    for process in sorted(Path("/proc").glob("[0-9]*"), key=lambda entry: int(entry.name)):
        try:
            maps = (process / "maps").read_text("utf-8", "replace").splitlines()
            if any(line.split()[3:5] == [device, str(status.st_ino)] for line in maps):
                name = (process / "comm").read_text("utf-8", "replace").strip()
                found.append(f"{name} ({process.name})")
        except OSError:
            continue  # it ended meanwhile, or belongs to another user
    return found


def why_resident(path: os.PathLike[str] | str) -> str:
    """The best explanation of why pages stay in the cache."""
    kind = file_system(path)
    if kind in IN_MEMORY:
        return f"{kind} keeps its files in memory"
    users = mapped_by(path)
    if users:
        return "mapped by " + ", ".join(users[:4]) + (" and others" if len(users) > 4 else "")
    return "locked, or mapped by a process that cannot be seen from here"
