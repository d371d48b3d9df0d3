"""Which pages of its files a process that runs has touched, seen from outside.

It is what a program says of itself in a sample (instrument/sampler), for those that do not end by
exit() and do not call frontload_ready(): its page table, as the kernel shows it to the user whose
process it is. The process goes on meanwhile. touched_pages.c and exact_pages.c, there, say what
the kernel tells and why.
"""

import fcntl
import os
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from frontload.profile.trace import Module
from frontload.recording.sample import PageSample, Slice, TouchedPages

_SCAN = 0xc0606610  # _IOWR('f', 16, struct pm_scan_arg), which has 96 bytes
_QUESTION = "12Q"  # size, flags, start, end, walk_end, vec, vec_len, max_pages, four masks
_PRESENT, _SWAPPED = 1 << 3, 1 << 4
_BOTH = 3 << 62  # of an entry of pagemap: present, or swapped
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (..)(.)p ([0-9a-f]+) ([0-9a-f:]+) (\d+) +(/.*)$")
_REGISTERED = "uw"  # of VmFlags in smaps: with userfaultfd, for writes
_REPLACED = " (deleted)"  # behind the path of a file that was, while it ran
_LEAST_STRIPE, _MOST_STRIPES = 4 << 16, 8  # as in slice.h
_LOWEST_HALF = 1 << 63  # what lies beyond is the kernel's


@dataclass
class _Mapping:
    begin: int
    end: int
    offset: int  # in the file
    is_registered: bool = False

    def pages(self) -> np.ndarray:
        """Of the file."""
        return np.arange(self.offset, self.offset + self.end - self.begin, _PAGE) // _PAGE


@dataclass
class _File:
    path: str
    has_code: bool = False
    mappings: list[_Mapping] = field(default_factory=list)

    def slice(self, number: int, count: int) -> Slice:
        """A slice of so many, as instrument/sampler/slice.h has it."""
        end = max(each.offset + each.end - each.begin for each in self.mappings) // _PAGE
        least = max(_LEAST_STRIPE // _PAGE, 1)
        return Slice(-(-end // (least * _MOST_STRIPES * count)) * least, count, number)

    def is_exact(self, part: Slice | None) -> bool:
        """Whether all pages, or those of a slice, are registered."""
        return all(each.is_registered or (part is not None and not part.has(each.pages()).any())
                   for each in self.mappings)


def below(process: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    parents = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parents[int(folder.name)] = int(
                (folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
    found = [process]
    for each in found:  # grows meanwhile
        found += (pid for pid, parent in parents.items() if parent == each)
    return found[1:]


def sample(process: int, run: int, forked: bool, role: str,
           part: tuple[int, int] | None = None) -> PageSample | None:
    """None if the process has ended, or is not ours to look at. `part`: the slice of each file that
    the process was asked to tell of, and of how many."""
    try:
        files = _files(process)
        program = os.readlink(f"/proc/{process}/exe")
        found = []
        with open(f"/proc/{process}/pagemap", "rb", buffering=0) as table:
            for file in files:
                is_main = file.path == program
                build_id = _build_id(f"/proc/{process}/exe" if is_main else file.path)
                if build_id is not None:
                    path = file.path.removesuffix(_REPLACED) if is_main else file.path
                    found.append((Module(path, build_id, is_main), _told(table, file, part)))
    except OSError:
        return None
    if not found:
        return None
    return PageSample("", [module for module, _ in found], [pages for _, pages in found], _PAGE,
                      process, run, forked, role)


def _files(process: int) -> list[_File]:
    """The files that code is loaded from."""
    # By path as well: in subvolumes of btrfs, several files have one number on one device.
    files: dict[tuple[str, str, str], _File] = {}
    current = None
    lines = Path(f"/proc/{process}/smaps").read_bytes().split(b"\n")
    for line in map(os.fsdecode, lines):
        if found := _MAPPING.match(line):
            begin, end, _, execute, offset, device, inode, path = found.groups()
            current = files.setdefault((device, inode, path), _File(path))
            current.has_code |= execute == "x"
            current.mappings.append(_Mapping(int(begin, 16), int(end, 16), int(offset, 16)))
        elif line.startswith("VmFlags:"):
            if current:
                current.mappings[-1].is_registered = _REGISTERED in line.split()
            current = None
    return [file for file in files.values() if file.has_code]


def _told(table, file: _File, part: tuple[int, int] | None) -> TouchedPages:
    pages, mine = _touched(table, file), file.slice(*part) if part else None
    if mine and file.is_exact(mine):
        return TouchedPages(pages[mine.has(pages)], True, False, mine)
    return TouchedPages(pages, file.is_exact(None), False)


def _touched(table, file: _File) -> np.ndarray:
    pages: set[int] = set()
    for each in file.mappings:
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
                for note in segment.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        return bytes.fromhex(note["n_desc"])
    except (ELFError, OSError, ValueError):
        return None
    return b""
