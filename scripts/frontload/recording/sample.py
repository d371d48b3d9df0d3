"""Reads samples: which pages of its files one process had touched when its start was over.

The format is declared, byte by byte, in instrument/format/frontload_sample_format.h; the words here
are the ones used there. A sample is a few kilobytes and was written in one piece, so it is read as
a whole; one that is longer than any can be is refused before that.
"""

import functools
import os
import platform
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from frontload.base import errors, files
from frontload.base.errors import BadData
from frontload.profile.role import NO_ROLE, is_role
from frontload.profile.trace import Module

SUFFIX = ".flsample"
MAGIC = b"\x89FLS\r\n\x1a\n"
MAJOR = 2
_WITHOUT_SLICES = 1  # the version of those that tell of whole files
HEADER_SIZE = 96
_HEADER = "8sBBHHHIIIIQIB3x32s"  # struct frontload_sample_header up to the reserved bytes
_ROLE_AT, _SIZE_AT = 48, 20
_BYTE_ORDERS = {1: "<", 2: ">"}
_MAIN, _EXACT, _ORDERED, _SLICED = 1, 2, 4, 8
_AT_READY = 1
_LARGEST = 1 << 20  # as the sampler has it (LARGEST_SAMPLE in instrument/sampler/sample_file.h)
_LARGEST_PAGE = 1 << 20
_MOST_PAGES = 1 << 22  # of a file: 16 GiB in the smallest pages; more would take much memory
_MOST_SLICES = 1000
_NUMBER_BYTES = 9
_damaged = functools.partial(BadData, note="copy or take it again")
_FILE_NAME = re.compile(rf".*{re.escape(SUFFIX)}(\.\d+)?", re.DOTALL)


class Slice(NamedTuple):
    """Which pages of a file a sample tells of: stripe `number`, and each that is a multiple of
    `count` stripes behind it."""

    stripe: int  # in pages
    count: int
    number: int

    def has(self, pages: np.ndarray) -> np.ndarray:
        return pages // self.stripe % self.count == self.number


@dataclass(frozen=True)
class TouchedPages:
    """The pages of one file, by their numbers: in the order of first touch, if that is known, else
    ascending."""

    pages: np.ndarray
    exact: bool  # each was touched; otherwise windows around touched pages are among them
    ordered: bool
    part: Slice | None = None  # of other pages nothing is known; None: all are told


@dataclass(frozen=True)
class PageSample:
    """One process: what it touched of `modules[i]` is `touched[i]`."""

    path: str
    modules: list[Module]
    touched: list[TouchedPages]
    page_size: int
    pid: int
    run: int
    forked: bool
    role: str

    @property
    def main(self) -> Module | None:
        return next((module for module in self.modules if module.main), None)


def find(folder: os.PathLike | str) -> list[Path]:
    """The samples in a folder."""
    return sorted(path for path in Path(folder).iterdir() if _FILE_NAME.fullmatch(path.name))


def read(path: os.PathLike | str) -> PageSample:
    """Reads a sample; bad contents raise BadData with the byte offset."""
    with files.open_input(path, "libfrontload-sample takes samples") as file:
        return parse(file.read(_LARGEST + 1), path)


def parse(data: bytes, path: os.PathLike | str) -> PageSample:
    """The sample in `data`; `path` is for the messages."""
    if not data:
        raise BadData(path, "is empty", note="take it again; the sampler wrote nothing to it")
    if not data.startswith(MAGIC):
        raise BadData(path, "not a sample: wrong magic", offset=0,
                      note="libfrontload-sample makes samples")
    if len(data) < HEADER_SIZE:
        raise _damaged(path, f"truncated inside its header of {HEADER_SIZE} bytes",
                       offset=len(data))
    order = _BYTE_ORDERS.get(data[8])
    if order is None:
        raise _damaged(path, f"byte order {data[8]} is neither 1 (little) nor 2 (big)", offset=8)
    (_, _, _, _, major, _, header_size, size, page_size, pid, run, modules, forked,
     role) = struct.unpack_from(order + _HEADER, data)
    if not _WITHOUT_SLICES <= major <= MAJOR:
        raise BadData(path, f"sample format {major} is none of {_WITHOUT_SLICES} to {MAJOR}, which "
                      "this frontload reads", offset=12,
                      note="read it with the frontload of the sampler, or a newer one")
    if not HEADER_SIZE <= header_size <= size:
        raise _damaged(path, f"a header of {header_size} bytes in a sample of {size}", offset=16)
    if size != len(data) or size > _LARGEST:
        what = "truncated: it has" if len(data) < size else "has"
        raise _damaged(path, f"{what} {len(data)} of {size} bytes", offset=_SIZE_AT)
    if page_size & (page_size - 1) or not 4096 <= page_size <= _LARGEST_PAGE:
        raise _damaged(path, f"pages of {page_size} bytes", offset=24)
    role = role.partition(b"\0")[0].decode("latin-1")
    if role and not is_role(role):
        raise _damaged(path, f"its role is {NO_ROLE}", offset=_ROLE_AT)
    rest = _Rest(data, header_size, path)
    found = list(_modules(rest, modules))
    if rest.at != len(data):
        raise _damaged(path, "more behind its last file", offset=rest.at)
    return PageSample(os.fspath(path), [module for module, _ in found],
                      [touched for _, touched in found], page_size, pid, run, bool(forked), role)


def to_bytes(sample: PageSample) -> bytes:
    """The sample as a file, taken on this machine when the command was ready."""
    body = b"".join(_module_bytes(module, touched) for module, touched in
                    zip(sample.modules, sample.touched, strict=True))
    order = 1 if sys.byteorder == "little" else 2
    version = MAJOR if any(touched.part for touched in sample.touched) else _WITHOUT_SLICES
    header = struct.pack(_BYTE_ORDERS[order] + _HEADER, MAGIC, order, _AT_READY, _machine(),
                         version, 0, HEADER_SIZE, HEADER_SIZE + len(body), sample.page_size,
                         sample.pid, sample.run, len(sample.modules), sample.forked,
                         sample.role.encode())
    return header.ljust(HEADER_SIZE, b"\0") + body


def _machine() -> int:
    return {"x86_64": 62, "aarch64": 183, "riscv64": 243}.get(platform.machine(), 0)


def _module_bytes(module: Module, touched: TouchedPages) -> bytes:
    name = os.fsencode(module.path)
    flags = (_MAIN * module.main | _EXACT * touched.exact | _ORDERED * touched.ordered
             | _SLICED * (touched.part is not None))
    begins = np.flatnonzero(np.diff(touched.pages, prepend=-2) != 1)
    sizes = np.diff(begins, append=len(touched.pages))
    numbers, last = [*(touched.part or ()), len(begins)], 0
    for first, size in zip(touched.pages[begins].tolist(), sizes.tolist(), strict=True):
        step = first - last
        if touched.ordered:
            step = 2 * step if step >= 0 else -2 * step - 1
        numbers += (step, size)
        last = first + size
    return b"".join((_number(flags), _number(len(module.build_id)), module.build_id,
                     _number(len(name)), name, *map(_number, numbers)))


def _number(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*found, value])


class _Rest:
    """What of a sample is still to be read."""

    def __init__(self, data: bytes, at: int, path):
        self._data = data
        self.at = at
        self._path = path

    def damaged(self, what: str, at: int) -> BadData:
        return _damaged(self._path, what, offset=at)

    def number(self) -> int:
        begin, number = self.at, 0
        for shift in range(0, 7 * _NUMBER_BYTES, 7):
            if self.at == len(self._data):
                raise self.damaged("ends inside a number", begin)
            byte = self._data[self.at]
            self.at += 1
            number |= (byte & 0x7f) << shift
            if byte < 0x80:
                return number
        raise self.damaged(f"a number of more than {_NUMBER_BYTES} bytes", begin)

    def bytes(self, what: str) -> bytes:
        begin, size = self.at, self.number()
        taken = self._data[self.at:self.at + size]
        if len(taken) < size:
            raise self.damaged(f"{what} of {size} bytes, of which {len(taken)} are there", begin)
        self.at += size
        return taken


def _modules(rest: _Rest, count: int) -> Iterator[tuple[Module, TouchedPages]]:
    left = _MOST_PAGES
    for _ in range(count):  # each takes bytes, so that it ends
        begin, flags = rest.at, rest.number()
        build_id, file = rest.bytes("a build-id"), rest.bytes("a path")
        if not file:
            raise rest.damaged("a file without a path", begin)
        part = _slice(rest) if flags & _SLICED else None
        at = rest.at
        pages = _pages(rest, bool(flags & _ORDERED), left)
        left -= len(pages)
        if part and not part.has(pages).all():
            raise rest.damaged("pages of another slice", at)
        yield (Module(os.fsdecode(file), build_id, bool(flags & _MAIN)),
               TouchedPages(pages, bool(flags & _EXACT), bool(flags & _ORDERED), part))


def _slice(rest: _Rest) -> Slice:
    at, found = rest.at, Slice(rest.number(), rest.number(), rest.number())
    if not (1 <= found.stripe <= _MOST_PAGES and 2 <= found.count <= _MOST_SLICES
            and found.number < found.count):
        raise rest.damaged(f"slice {found.number} of {found.count}, in stripes of "
                           f"{errors.count(found.stripe, 'page')}", at)
    return found


def _pages(rest: _Rest, ordered: bool, most: int) -> np.ndarray:
    parts, last, total = [np.empty(0, np.int64)], 0, 0
    for _ in range(rest.number()):
        at, step, size = rest.at, rest.number(), rest.number()
        if ordered:
            step = -(step + 1) // 2 if step & 1 else step // 2
        first, last = last + step, last + step + size
        total += size
        if not size or first < 0 or last >= 1 << 52 or total > most:
            raise rest.damaged(f"a range of {errors.count(size, 'page')} from page {first} on", at)
        parts.append(np.arange(first, last))
    return np.concatenate(parts)
