"""Logs of valgrind's lackey (--tool=lackey --trace-mem=yes): every instruction and every access.

    I  04025310,3      an instruction of 3 bytes is executed at 0x4025310
     L 1ffefff528,8    it loads 8 bytes
     S 04a27a38,16     it stores 16 bytes
     M 0421c7cc,4      it loads and stores 4 bytes

All other lines are valgrind's own messages, ==PID== ... or ### ... The log has run-time addresses
and does not say where the program was. We assume the place where valgrind puts a program of its
kind, or --base, and the entry point must be among the instructions. Like frontload-valgrind, this
keeps the granules of data, of 16 bytes, and the parts of code, of 4, in order of first touch, and
ignores the loader's own accesses, which relocate all of the program's data.

A log has tens of millions of lines, so numpy parses pieces of it, column by column.
"""

import re
from collections.abc import Iterator

import numpy as np

from frontload.base import files
from frontload.base.errors import BadData, Failure
from frontload.base.intervals import distinct
from frontload.elf import file as elf
from frontload.elf.loading import EntryPoint, read_start
from frontload.importers.interface import Importer, Source
from frontload.profile import trace
from frontload.profile.trace import GRANULE, Module, Trace

PIE_BASE = 0x108000  # where valgrind loads what can be anywhere
_PIECE = 1 << 24
_MOST_DIGITS = 16
_PART = 4  # FRONTLOAD_CODE_PART in instrument/format/frontload_trace.h
_LARGEST = 4096  # bytes of an access
# The loader is the first to run. It is smaller than this, and valgrind leaves more room behind it.
_LOADER_REACH = 1 << 20
_MESSAGE = re.compile(rb"(?:==|--|\*\*)(\d+)(?:==|--|\*\*)|### ")
# It reads the debug info of what it runs, and ends if it cannot: 3.19 has trouble with DWARF 5.
_GAVE_UP = b"I can't recover.  Giving up."
_LINE = re.compile(rb"(?:I | [LSM]) [0-9a-f]{1,16},[0-9]{1,4}\n")
_NEWLINE, _COMMA = ord("\n"), ord(",")
_DIGIT = np.full(256, 255, np.uint8)
_DIGIT[list(b"0123456789abcdef")] = np.arange(16)


class _Reader:
    def __init__(self, source: Source, linked: elf.Elf, start: EntryPoint):
        self._path = source.path
        self._base = source.base if source.base is not None else (
            0 if start.fixed else PIE_BASE)
        self._entry = start.entry
        loaded = [index for index, kind in enumerate(linked.section_classes) if kind]
        addresses = linked.sections["addr"][loaded].astype(np.uint64)
        self._first = int(addresses.min(initial=1 << 63))
        self._end = int((addresses + linked.sections["size"][loaded].astype(np.uint64))
                        .max(initial=0))
        self._has_loader = start.has_interpreter
        self._loader: tuple[int, int] | None = None
        self._in_loader = False  # at the end of the piece before
        self._began = False
        self._process = b""
        self._lines = 0
        self._known = np.empty(0, np.uint64)  # sorted keys of granules and parts
        self._kinds: list[np.ndarray] = []
        self._addresses: list[np.ndarray] = []

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Kinds and addresses, as in traces."""
        with files.open_input(self._path, LACKEY.note) as stream:
            rest = b""
            while piece := stream.read(_PIECE):
                piece = rest + piece
                end = piece.rfind(b"\n") + 1
                rest = piece[end:]
                if len(rest) > _PIECE:
                    raise BadData(self._path, "not a log: a line without an end",
                                  line=self._lines + 1, note=LACKEY.note)
                if end:
                    self._read_piece(piece[:end])
            if rest:
                raise BadData(self._path, "truncated: the last line has no newline",
                              line=self._lines + 1,
                              note="copy or record it again")
        self._check_entry()
        return (np.concatenate([np.empty(0, np.uint8), *self._kinds]),
                np.concatenate([np.empty(0, np.uint64), *self._addresses]))

    def _check_entry(self) -> None:
        if self._entry and self._entry // _PART * 2 not in self._known:
            raise BadData(self._path, f"no instruction at the program's entry point, which is at "
                          f"{self._base + self._entry:#x} if it was loaded at {self._base:#x}",
                          note="give the program that ran with --binary; if valgrind loaded it "
                               "elsewhere, say where with --base")

    def _read_piece(self, piece: bytes) -> None:
        """Takes whole lines in."""
        text = np.frombuffer(piece, np.uint8)
        ends = np.flatnonzero(text == _NEWLINE)
        starts = np.concatenate([[0], ends[:-1] + 1])
        # The rarest go first; and an access is never so short that its fields could not be read.
        kind = text[starts]
        column = text[np.minimum(starts + 1, ends)]
        is_code = (kind == ord("I")) & (column == ord(" "))
        is_data = (kind == ord(" ")) & ((column == ord("L")) | (column == ord("S"))
                                        | (column == ord("M")))
        others = np.flatnonzero(~(is_code | is_data))
        for index in others.tolist():
            self._message(piece[starts[index]:ends[index]], self._lines + index + 1)
        if len(others):
            keep = is_code | is_data
            numbers = np.flatnonzero(keep)
            starts, ends, is_code = starts[keep], ends[keep], is_code[keep]
        else:
            numbers = None
        if len(starts):
            address, size, bad = _numbers(text, starts, ends)
            if bad is not None:
                index = bad if numbers is None else int(numbers[bad])
                raise BadData(self._path, "neither an access nor a message of valgrind",
                              line=self._lines + index + 1, note=LACKEY.note)
            self._touch(is_code, address, size)
        self._lines += int(np.count_nonzero(text == _NEWLINE))

    def _message(self, line: bytes, number: int) -> None:
        found = _MESSAGE.match(line)
        if not found and line.strip():
            raise BadData(self._path, "neither an access nor a message of valgrind", line=number,
                          note=LACKEY.note)
        if found and _GAVE_UP in line:
            raise BadData(self._path, "valgrind gave up on debug info that it cannot read",
                          line=number, note="run a copy without it in valgrind: "
                          "strip --strip-debug -o COPY APP")
        if not found or not found[1]:
            return
        if self._process not in (b"", found[1]):
            raise BadData(self._path, "a log of several processes, whose accesses cannot be told "
                                      "apart", line=number, note=LACKEY.note)
        self._process = found[1]

    def _touch(self, is_code: np.ndarray, address: np.ndarray, size: np.ndarray) -> None:
        if not self._began:
            self._begin(int(address[0]))
        offset = address - np.uint64(self._base)
        first, end = np.uint64(self._first), np.uint64(self._end)
        # What wraps around below the base is far above the end.
        ours = (offset >= first) & (offset < end)
        if self._loader:
            ours &= is_code | ~self._by_loader(is_code, address)
        chosen = np.flatnonzero(ours)
        offset, data = offset[chosen], ~is_code[chosen]
        granule = offset // np.uint64(GRANULE)
        last = np.minimum(offset + size[chosen], end) - np.uint64(1)
        last = np.where(data, last // np.uint64(GRANULE), granule)
        if (last > granule).any():
            many = (last - granule).astype(np.int64) + 1
            place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            granule = np.repeat(granule, many) + place.astype(np.uint64)
            offset, data = np.repeat(offset, many), np.repeat(data, many)
        # Of code, the address of the instruction tells which of two functions in a part it is.
        self._keep(data, np.where(data, granule * np.uint64(GRANULE), offset))

    def _begin(self, address: int) -> None:
        self._began = True
        inside = self._first <= address - self._base < self._end
        if self._has_loader and not inside:
            self._loader = address - _LOADER_REACH, address + _LOADER_REACH

    def _by_loader(self, is_code: np.ndarray, address: np.ndarray) -> np.ndarray:
        """Whether it is the loader that executes each line."""
        low, high = self._loader
        inside = (address >= np.uint64(max(low, 0))) & (address < np.uint64(high))
        current = np.maximum.accumulate(np.where(is_code, np.arange(len(is_code)), -1))
        result = np.where(current >= 0, inside[current], self._in_loader)
        self._in_loader = bool(result[-1])
        return result

    def _keep(self, data: np.ndarray, address: np.ndarray) -> None:
        """Notes the first touches, which are in order."""
        keys = address // np.uint64(_PART) << np.uint64(1) | data.astype(np.uint64)
        # Many instructions follow one of the same part, which is cheaper to see than to sort.
        changes = np.ones(len(keys), bool)
        changes[1:] = keys[1:] != keys[:-1]
        index = np.flatnonzero(changes)
        if len(self._known):
            some = keys[index]
            place = np.minimum(np.searchsorted(self._known, some), len(self._known) - 1)
            index = index[self._known[place] != some]
        new, first = np.unique(keys[index], return_index=True)
        if len(new):
            index = index[np.sort(first)]
            self._kinds.append(np.where(data[index], trace.DATA, trace.CODE).astype(np.uint8))
            self._addresses.append(address[index])
            self._known = distinct(self._known, new)


def _numbers(text: np.ndarray, starts: np.ndarray,
             ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, int | None]:
    """The addresses and sizes of lines `XX ADDRESS,SIZE`, and which of them is not one."""
    commas = np.flatnonzero(text == _COMMA)
    if len(commas) != len(starts):
        # Messages have commas as well; of a line the first counts.
        where = np.searchsorted(commas, starts)
        commas = np.append(commas, len(text))[where]
    digits = commas - starts - 3
    decimals = ends - commas - 1
    bad = (digits < 1) | (digits > _MOST_DIGITS) | (decimals < 1) | (decimals > 4)
    bad |= text[np.minimum(starts + 2, len(text) - 1)] != ord(" ")
    if bad.any():
        return starts, starts, int(np.argmax(bad))
    address = np.zeros(len(starts), np.uint64)
    invalid = np.zeros(len(starts), np.uint8)
    for count in np.unique(digits).tolist():
        mine = np.flatnonzero(digits == count)
        begin = starts[mine] + 3
        value = np.zeros(len(mine), np.uint64)
        for place in range(count):
            digit = _DIGIT[text[begin + place]]
            invalid[mine] |= digit & 0xf0
            value = value << np.uint64(4) | digit
        address[mine] = value
    size = np.zeros(len(starts), np.uint64)
    for place in range(int(decimals.max())):
        some = np.flatnonzero(decimals > place)
        digit = _DIGIT[text[commas[some] + 1 + place]]
        invalid[some] |= np.where(digit > 9, 0xf0, 0).astype(np.uint8)
        size[some] = size[some] * np.uint64(10) + digit
    invalid |= ((size == 0) | (size > _LARGEST)).astype(np.uint8)
    return address, size, int(np.argmax(invalid)) if invalid.any() else None


def _read(source: Source) -> Iterator[Trace]:
    if source.linked is None:
        raise Failure(f"{source.path}: a log of lackey has addresses only",
                      note="give the program that ran with --binary")
    start = read_start(source.linked.path)
    if not start.entry and source.base is None:
        raise Failure(f"{source.linked.path}: a shared library has no fixed address",
                      note="say where valgrind loaded it with --base")
    kinds, addresses = _Reader(source, source.linked, start).read()
    module = Module(source.program, source.linked.build_id, main=True)
    yield Trace(source.path, [module], kinds, addresses, np.zeros(len(kinds), np.int64), 0, 0)


def _recognises(head: bytes) -> bool:
    found = [line for line in head.splitlines(keepends=True) if not _MESSAGE.match(line)]
    return all(_LINE.fullmatch(line) for line in found) if found else b" Lackey, " in head


LACKEY = Importer("lackey", "valgrind --tool=lackey --trace-mem=yes --log-file=%p.log APP",
                  _recognises, _read)
