"""Facts about each file, and names for inodes that no mapping has named.

The page cache records a file that was read by read(2) only as an inode on a device. The kernel
still has a name for it, which we get by a file handle (root only).
"""

import ctypes
import os
import stat
import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

from frontload.base.errors import Failure
from frontload.base.typed import NotRequired
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.faults.history import History
from frontload.machine import host as measure_host
from frontload.pagecache import cache as pagecache
from frontload.pagecache.kernel import PAGE_SIZE
from frontload.pagecache.residency import Residency

Section = TypedDict("Section", {"name": str, "offset": int, "size": int, "address": int})
File = TypedDict("File", {
    "path": str, "size": int | None,
    "build_id": str,  # empty: none
    "file_system": str | None, "read_ahead_kib": int | None, "page_size": int,
    "sections": list[Section], "segments": list[dict[str, Any]],
    "before": str | None,  # the pages in memory before the run, as extents `first+pages`
    "after": str | None, "device": NotRequired[measure_host.BlockDevice | None]})
_libc = ctypes.CDLL(None, use_errno=True)
_FILEID_INO32_GEN = 1
_ANY_GENERATION = 0  # accepted by ext4 and similar; other file systems give no name
_O_PATH = getattr(os, "O_PATH", 0)


def name_inodes(history: History) -> int:
    """Finds the paths of files known only by inode; returns how many stay without."""
    unknown = 0
    roots = _mount_points()
    for (device, inode), number in history.files.items():
        if history.paths[number] is None:
            history.paths[number] = next(
                filter(None, (_name(inode, root) for root in roots.get(device, ()))), None)
            unknown += history.paths[number] is None
    return unknown


def _mount_points() -> dict[tuple[int, int], list[str]]:
    found: dict[tuple[int, int], list[str]] = {}
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        fields = line.split()
        major, _, minor = fields[2].partition(b":")
        point = fields[4].decode("unicode_escape").encode("latin-1")
        found.setdefault((int(major), int(minor)), []).append(os.fsdecode(point))
    return found


def _name(inode: int, root: str) -> str | None:
    handle = struct.pack("=IiII", 8, _FILEID_INO32_GEN, inode & 0xffffffff, _ANY_GENERATION)
    try:
        mount = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        opened = _libc.open_by_handle_at(mount, ctypes.create_string_buffer(handle), _O_PATH)
        if opened < 0:
            return None
        try:
            path = os.readlink(f"/proc/self/fd/{opened}")
            found = os.stat(path)
        finally:
            os.close(opened)
        return path if found.st_ino == inode and stat.S_ISREG(found.st_mode) else None
    except (OSError, AttributeError):  # AttributeError: a libc without the function
        return None
    finally:
        os.close(mount)


def describe(path: str, before: Residency | None,
             after: Residency | None) -> File:
    """A file for the document. Its residency after the run is looked up now if it is unknown."""
    described: File = {
        "path": path, "size": None, "build_id": "", "file_system": None, "read_ahead_kib": None,
        "page_size": PAGE_SIZE, "sections": [], "segments": [],
        "before": before.to_text() if before else None, "after": None}
    try:
        place = measure_host.describe_file(path)
        described |= {"size": place["size"], "file_system": place["file_system"],
                      "read_ahead_kib": place["read_ahead_kib"], "device": place["device"]}
        if after is None and pagecache.may_look(path):
            after = pagecache.residency(path)
        described["after"] = after.to_text() if after else None
        read = elf.read(path)
    except (OSError, Failure):
        return described  # the file is gone, belongs to another user, or is no ELF file
    sections: list[Section] = [
        {"name": name.decode(errors="backslashreplace"), "offset": int(section["offset"]),
         "size": int(section["size"]), "address": int(section["addr"])}
        for name, section in zip(read.section_names, read.sections, strict=True)
        if section["type"] not in (0, constants.SHT_NOBITS) and section["size"]]
    return described | {
        "build_id": read.build_id.hex(), "segments": list(map(asdict, read.segments)),
        "sections": sorted(sections, key=lambda section: section["offset"])}


def disk(device: int) -> tuple[int, int]:
    """The whole disk of a device: requests are made to disks."""
    number = os.major(device), os.minor(device)
    folder = Path(f"/sys/dev/block/{number[0]}:{number[1]}")
    if (folder / "partition").exists():
        disk = (folder.resolve().parent / "dev").read_text("ascii").strip()
        major, _, minor = disk.partition(":")
        return int(major), int(minor)
    return number
