"""Names in the string tables of ELF files: 5 million in 400 MB for a large program.

A table stays in the file. Names are read a window at a time, and only requested ones become
objects; for look-ups among all names, each gets a number (a hash) of 8 bytes. A table that is
smaller than a window is kept.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import BinaryIO

import numpy as np

from frontload.base.intervals import distinct
from frontload.elf.contents import InMemory, Source, damaged

_WINDOW = 1 << 18
_FEW = 8  # at most this many names are searched for as texts

# Overlapping names can be many times as large as their table: reading them would take all memory.
# Linkers share the ends of names, which stays far below this factor.
_NAME_OVERLAP = 8
# An odd number has an inverse among the numbers of 64 bits, so that no position is lost.
_FACTOR = 0x9e3779b97f4a7c15
_INVERSE = pow(_FACTOR, -1, 1 << 64)


@dataclass(frozen=True)
class _Window:
    """A part of a table, and its names: from `first` to before `last` of the requested names. Name
    i of these is data[starts[i]:ends[i]]."""

    first: int
    last: int
    data: bytes
    starts: np.ndarray

    @cached_property
    def bytes(self) -> np.ndarray:
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def ends(self) -> np.ndarray:
        zeros = np.append(np.flatnonzero(self.bytes == 0), len(self.data))
        return zeros[np.searchsorted(zeros, self.starts)]


class Strings:
    """A table of names that end with a zero byte."""

    def __init__(self, source: Source, offset: int, size: int):
        self.path, self.size = source.path, size
        self._source, self._offset = source, offset
        self._kept: bytes | None = None

    @classmethod
    def of(cls, path: str, table: bytes) -> "Strings":
        return cls(InMemory(path, table), 0, len(table))

    def windows(self, offsets: np.ndarray) -> Iterator[_Window]:
        """The windows with the names at these ascending offsets; none for offsets behind the end of
        the table, whose names are empty."""
        offsets = offsets[:np.searchsorted(offsets, self.size)]
        if self._kept is None and self.size <= _WINDOW and len(offsets):
            with self._source.stream() as stream:
                self._kept = self._read(stream, 0, self.size)
        if self._kept is not None:
            yield _window(offsets, 0, 0, self._kept)
            return
        with self._source.stream() as stream:
            first = 0
            while first < len(offsets):
                begin = int(offsets[first])
                window = _window(offsets, first, begin, self._whole_names(stream, begin))
                yield window
                first = window.last

    def _whole_names(self, stream: BinaryIO, begin: int) -> bytes:
        """Bytes from an offset on, enough to contain the end of the last name."""
        wanted = _WINDOW
        while True:
            data = self._read(stream, begin, min(wanted, self.size - begin))
            end = data.rfind(b"\0") + 1
            if begin + len(data) == self.size:
                return data
            if end:
                return data[:end]
            wanted *= 2  # a very long name

    def _read(self, stream: BinaryIO, offset: int, size: int) -> bytes:
        stream.seek(self._offset + offset)
        data = stream.read(size)
        if len(data) < size:
            raise damaged(self.path, "shrank while it was read",
                          offset=self._offset + offset + len(data))
        return data


def _window(offsets: np.ndarray, first: int, begin: int, data: bytes) -> _Window:
    last = int(np.searchsorted(offsets, begin + len(data)))
    return _Window(first, last, data, offsets[first:last] - begin)


class Names:
    """Names in a string table: name i starts at `offsets[i]`."""

    def __init__(self, strings: Strings, offsets: np.ndarray):
        self._strings = strings
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, index: int) -> bytes:
        return self.some(np.array([index]))[0]

    def some(self, indexes: np.ndarray) -> list[bytes]:
        """The names at these indexes, in their order."""
        offsets, order = self._ascending(indexes)
        texts: list[bytes] = []
        total, most = 0, _NAME_OVERLAP * (self._strings.size + 16 * len(offsets))
        for window in self._strings.windows(offsets):
            total += int((window.ends - window.starts).sum())
            if total > most:
                raise damaged(self._strings.path, f"{total} bytes of names in a string table of "
                              f"{self._strings.size} bytes")
            data = window.data
            texts += [data[start:end] for start, end in
                      zip(window.starts.tolist(), window.ends.tolist(), strict=True)]
        texts += [b""] * (len(offsets) - len(texts))
        if order is None:
            return texts
        found = np.empty(len(texts), object)
        found[order] = texts
        return found.tolist()

    def all(self) -> list[bytes]:
        return self.some(np.arange(len(self._offsets)))

    def present(self) -> np.ndarray:
        """Which names are not empty."""
        offsets, order = self._ascending()
        found = np.zeros(len(offsets), bool)
        for window in self._strings.windows(offsets):
            found[window.first:window.last] = window.bytes[window.starts] != 0
        return _in_place(found, order)

    def any_begins(self, beginnings: Collection[bytes]) -> bool:
        """Whether a name begins with one of these."""
        offsets, _ = self._ascending()
        return any(first < last for window in self._strings.windows(offsets)
                   for beginning in beginnings for first, last in _beginning(window, beginning))

    def having(self, text: bytes) -> np.ndarray:
        """The indexes of the names that contain this text."""
        offsets, order = self._ascending()
        found = np.zeros(len(offsets), bool)
        for window in self._strings.windows(offsets):
            data, begin = window.data, 0
            while (position := data.find(text, begin)) >= 0:
                begin = data.rfind(b"\0", begin, position) + 1 or begin
                end = data.find(b"\0", position)
                end = end if end >= 0 else len(data)
                first, last = np.searchsorted(window.starts,
                                              [begin, data.rfind(text, begin, end) + 1])
                found[window.first + first:window.first + last] = True
                begin = end + 1
        return np.flatnonzero(_in_place(found, order))

    def find(self, wanted: Collection[bytes],
             rows: np.ndarray | None = None) -> tuple[np.ndarray, list[bytes]]:
        """The indexes of the wanted names, ascending, and each name; only among `rows` if they are
        given."""
        known = wanted if isinstance(wanted, set | frozenset | dict) else set(wanted)
        if len(known) <= _FEW and b"" not in known:
            found = self._find_few(known)
            found = found if rows is None else np.intersect1d(found, rows)
            return found, self.some(found)
        hashes = distinct(hashes_of(known))
        found = self.hashes(rows)
        at = np.minimum(np.searchsorted(hashes, found), len(hashes) - 1)
        alike = np.flatnonzero(hashes[at] == found)
        alike = alike if rows is None else np.sort(rows[alike])
        names = self.some(alike)
        same = np.fromiter((name in known for name in names), bool, len(names))
        return alike[same], [name for name in names if name in known]

    def _find_few(self, names: Collection[bytes]) -> np.ndarray:
        offsets, order = self._ascending()
        found = np.zeros(len(offsets), bool)
        for window in self._strings.windows(offsets):
            # The last name of an unterminated table has no end.
            ended = replace(window, data=window.data + b"\0")
            for name in names:
                for first, last in _beginning(ended, name + b"\0"):
                    found[first:last] = True
        return np.flatnonzero(_in_place(found, order))

    def hashes(self, rows: np.ndarray | None = None) -> np.ndarray:
        """A number for each name, or for those at some indexes; equal names have equal numbers, and
        others nearly never."""
        offsets, order = self._ascending(rows)
        found = np.zeros(len(offsets), np.uint64)
        for window in self._strings.windows(offsets):
            found[window.first:window.last] = _hashes(window.data, window.starts, window.ends)
        return _in_place(found, order)

    def _ascending(self, indexes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        """Offsets in ascending order, and the index of each, unless they ascend already."""
        offsets = self._offsets if indexes is None else self._offsets[indexes]
        offsets = offsets.astype(np.int64)
        if (offsets[1:] >= offsets[:-1]).all():
            return offsets, None
        order = np.argsort(offsets, kind="stable")
        return offsets[order], order


def _in_place(found: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    if order is None:
        return found
    placed = np.empty_like(found)
    placed[order] = found
    return placed


def hashes_of(names: Collection[bytes]) -> np.ndarray:
    """The numbers that Names.hashes gives these names."""
    data = b"".join(names)
    ends = np.cumsum(np.fromiter(map(len, names), np.int64, len(names)))
    starts = np.append(0, ends[:-1])[:len(ends)]
    found = np.empty(len(names), np.uint64)
    first = 0
    while first < len(names):
        begin = int(starts[first])
        last = max(first + 1, int(np.searchsorted(ends, begin + _WINDOW, "right")))
        found[first:last] = _hashes(data[begin:int(ends[last - 1])], starts[first:last] - begin,
                                    ends[first:last] - begin)
        first = last
    return found


def hashes_of_few(names: Sequence[bytes]) -> np.ndarray:
    """The same for names most of which come many times."""
    known = dict.fromkeys(names)
    numbers = dict(zip(known, hashes_of(known).tolist(), strict=True))
    return np.fromiter(map(numbers.__getitem__, names), np.uint64, len(names))


def mixed(*hashes: np.ndarray) -> np.ndarray:
    """One number for several, whose order counts."""
    found = np.zeros(len(hashes[0]), np.uint64)
    for each in hashes:
        found ^= found >> np.uint64(29)
        found = (found + each) * np.uint64(_FACTOR)
    return found


def _beginning(window: _Window, text: bytes) -> Iterator[tuple[int, int]]:
    """Which names begin with a text: from one to before another, of those at one offset."""
    position = window.data.find(text)
    while position >= 0:
        first, last = (int(np.searchsorted(window.starts, position, side))
                       for side in ("left", "right"))
        yield window.first + first, window.first + last
        position = window.data.find(text, position + 1)


class _Powers:
    """Powers of _FACTOR and of its inverse, enough for the longest window."""

    def __init__(self) -> None:
        self.of_factor: np.ndarray = np.ones(1, np.uint64)
        self.of_inverse = self.of_factor

    def reach(self, count: int) -> None:
        if len(self.of_factor) < count:
            self.of_factor, self.of_inverse = (
                np.cumprod(np.append(np.uint64(1), np.full(2 * count, base, np.uint64)))
                for base in (_FACTOR, _INVERSE))


_powers = _Powers()


def _hashes(data: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The sum of the bytes of each name, each times a power of _FACTOR by its place in the name."""
    _powers.reach(len(data) + 1)
    weighted = np.frombuffer(data, np.uint8).astype(np.uint64)
    weighted *= _powers.of_factor[:len(data)]
    sums = np.empty(len(data) + 1, np.uint64)
    sums[0] = 0
    np.cumsum(weighted, out=sums[1:])
    return (sums[ends] - sums[starts]) * _powers.of_inverse[starts] + (
        ends - starts).astype(np.uint64)
