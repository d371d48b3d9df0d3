"""Which pages of its files a running process has touched, seen from outside.

The kernel shows a process's page table to the user of the process: PAGEMAP_SCAN of
/proc/PID/pagemap returns ranges since Linux 6.7, and before that the file has 8 bytes a page. Pages
that the kernel maps around a touched one also count: windows, not touches. The process goes on
meanwhile.
"""

import fcntl
import os
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from frontload.profile.trace import Module

_SCAN = 0xc0606610  # _IOWR('f', 16, struct pm_scan_arg), which has 96 bytes
_QUESTION = "12Q"  # size, flags, start, end, walk_end, vec, vec_len, max_pages, four masks
_PRESENT, _SWAPPED = 1 << 3, 1 << 4
_BOTH = 3 << 62  # of an entry of pagemap: present, or swapped
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (..)(.)p ([0-9a-f]+) ([0-9a-f:]+) (\d+) +(/.*)$")
_REPLACED = " (deleted)"  # behind the path of a file that was replaced while it ran
_LOWEST_HALF = 1 << 63  # addresses beyond are the kernel's


class Touched(NamedTuple):
    """A file that the process has mapped, and its touched pages by their numbers, ascending."""

    module: Module
    pages: np.ndarray


class _Mapping(NamedTuple):
    begin: int
    end: int
    offset: int  # in the file


def below(process: int) -> list[int]:
    """The descendants of a process."""
    parents = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parents[int(folder.name)] = int(
                (folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
    found = [process]
    for each in found:  # grows meanwhile
        found += (pid for pid, parent in parents.items() if parent == each)
    return found[1:]


def touched(process: int) -> list[Touched]:
    """The files that code is loaded from; empty if the process has ended, or belongs to another
    user."""
    found = []
    try:
        program = os.readlink(f"/proc/{process}/exe")
        with open(f"/proc/{process}/pagemap", "rb", buffering=0) as table:
            for path, mappings in _code(process):
                is_main = path == program
                build_id = _build_id(f"/proc/{process}/exe" if is_main else path)
                if build_id is not None:
                    name = path.removesuffix(_REPLACED) if is_main else path
                    found.append(Touched(Module(name, build_id, is_main), _pages(table, mappings)))
    except OSError:
        return []
    return found


def _code(process: int) -> Iterator[tuple[str, list[_Mapping]]]:
    """The files that code is loaded from, by their paths, with all of their mappings."""
    # By path as well: in subvolumes of btrfs, several files have one number on one device.
    files: dict[tuple[str, str, str], list[_Mapping]] = {}
    code = set()
    for line in map(os.fsdecode, Path(f"/proc/{process}/maps").read_bytes().split(b"\n")):
        if found := _MAPPING.match(line):
            begin, end, _, execute, offset, device, number, path = found.groups()
            key = device, number, path
            files.setdefault(key, []).append(
                _Mapping(int(begin, 16), int(end, 16), int(offset, 16)))
            if execute == "x":
                code.add(key)
    return ((key[2], mappings) for key, mappings in files.items() if key in code)


def _pages(table, mappings: list[_Mapping]) -> np.ndarray:
    pages: set[int] = set()
    for each in mappings:
        place = each.offset - each.begin
        for first, last in _present(table, each.begin, each.end):
            pages.update(range((first + place) // _PAGE, (last + place) // _PAGE))
    return np.array(sorted(pages), np.int64)


def _present(table, begin: int, end: int) -> Iterator[tuple[int, int]]:
    room = np.zeros((1024, 3), np.uint64)
    while begin < end < _LOWEST_HALF:
        question = bytearray(struct.pack(_QUESTION, 96, 0, begin, end, 0, room.ctypes.data,
                                         len(room), 0, 0, 0, _PRESENT | _SWAPPED,
                                         _PRESENT | _SWAPPED))
        try:
            count = fcntl.ioctl(table, _SCAN, question)
        except OSError:  # before Linux 6.7
            yield from _entries(table, begin, end)
            return
        yield from room[:count, :2].tolist()
        begin = struct.unpack(_QUESTION, question)[4]


def _entries(table, begin: int, end: int) -> Iterator[tuple[int, int]]:
    entries = np.frombuffer(os.pread(table.fileno(), (end - begin) // _PAGE * 8,
                                     begin // _PAGE * 8), np.uint64)
    for page in np.flatnonzero(entries & np.uint64(_BOTH)).tolist():
        yield begin + page * _PAGE, begin + (page + 1) * _PAGE


def _build_id(path: str) -> bytes | None:
    """None if it is no ELF file."""
    try:
        with open(path, "rb") as stream:
            for segment in ELFFile(stream).iter_segments("PT_NOTE"):
                for note in segment.iter_notes():  # type: ignore[attr-defined]  # a NoteSegment
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        return bytes.fromhex(note["n_desc"])
    except (ELFError, OSError, ValueError):
        return None
    return b""
