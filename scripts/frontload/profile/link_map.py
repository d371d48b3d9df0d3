"""Reads the map that lld writes (-Wl,-Map=FILE): which input section lies where in a linked file.

It gives places without symbols, such as jump tables and constants, a name that the next link also
has: the name of the input section and its object.

A line is four numbers (address, load address, size, alignment) and a name. The indentation of the
name shows its kind: none for an output section, 8 for an input section as `object:(name)`, 16 for a
symbol. The object `<internal>` holds what lld makes itself: tables for the loader, and constants
and strings that it merged, whose owners the map does not have. Symbols are skipped: lld demangles
their names here, and the symbol table of the linked file has them anyway.

To save memory, only the places of input sections are kept, and the line of a section is read again
on request. The lines of symbols, of which a large program has millions, are skipped many at a time.
"""

import os
import re
from array import array
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from frontload.base import files
from frontload.base.errors import BadData
from frontload.base.intervals import Ranges
from frontload.elf import constants
from frontload.elf import file as elves
from frontload.profile.startup_profile import Name

_HEADER = re.compile(rb" *VMA +LMA +Size +Align +Out +In +Symbol\n")
_LINE = re.compile(rb" *([0-9a-f]{1,16}) +[0-9a-f]+ +([0-9a-f]{1,16}) +[0-9]+ "
                   rb"( {16}| {8}|(?! ))(.*)\n", re.DOTALL)
_BEFORE_A_SYMBOL = 17  # spaces, behind the numbers
_PIECE = 1 << 20  # bytes read at a time, for the processor's cache
_INPUT = re.compile(rb"(.*):\((.+)\)", re.DOTALL)
# `<internal>`, and .eh_frame, which lld rewrites: its pieces have their offset in the name.
_MADE_BY_LLD = re.compile(rb"<internal>:\(.*|.*\+0x[0-9a-f]+\)", re.DOTALL)
# Compilers name mergeable strings by the size of a character and the alignment.
_STRINGS = re.compile(rb"\.str1\.[0-9]+$")
_MAKE_ONE = "link again with -Wl,-Map=FILE, record the new program, and give FILE"
_TOP = (1 << 64) - 1
_MISFITS = 0.1  # of the symbols, for odd ones in assembly code
_MAX_CHECKED = 1 << 18  # symbols, evenly over the table, which show a tenth as well as all


class Span(NamedTuple):
    """A place in a section of the linked file; `section` is its number."""

    section: int
    start: int
    end: int


class LinkMap:
    """The input sections of one linked file.

    ranges: those that a profile can name; group i is named by `name(i)`
    strings: sections of strings with characters of one byte, which are named by contents
    made: other parts that the linker made, or always keeps together (.init_array), without a name
    """

    def __init__(self, path: os.PathLike[str] | str, elf: elves.Elf):
        self._path = path
        self._elf = elf
        self.strings: list[Span] = []
        self._made: list[Span] = []
        self._objects: dict[int, bytes] = {}  # of groups, which are asked for twice
        self._known: dict[bytes, bytes] = {}  # objects: many sections are of one
        self._section, self._start, self._end, self._offset = (array("Q") for _ in range(4))
        with files.open_input(path, note=_MAKE_ONE) as stream:
            outputs = self._read(stream)
        self._check_outputs(outputs)
        self.ranges = Ranges(_numbers(self._start), _numbers(self._end))
        self.made = _ranges(self._made)
        self._check_symbols()

    def names(self, groups: np.ndarray) -> list[Name | None]:
        """The names of input sections; None for one that has none in a profile."""
        found = []
        for index, (object_name, section) in zip(self.ranges.order[self.ranges.sizes(groups)[0]],
                                                 self._inputs(groups), strict=True):
            found.append(Name("section", self._elf.section_classes[self._section[index]], section,
                              object_name) if object_name else None)
        return found

    def _inputs(self, groups: np.ndarray) -> list[tuple[bytes, bytes]]:
        """The object and the name of each of these input sections."""
        used, which = np.unique(groups, return_inverse=True)
        with files.open_input(self._path, note=_MAKE_ONE) as stream:
            found = [self._input_in(stream, index)
                     for index in self.ranges.order[self.ranges.sizes(used)[0]].tolist()]
        return [found[number] for number in which.tolist()]

    def _input_in(self, stream: BinaryIO, index: int) -> tuple[bytes, bytes]:
        stream.seek(self._offset[index])
        line = _LINE.fullmatch(stream.readline())
        parts = line and _INPUT.fullmatch(line[4])
        if not parts:
            raise BadData(self._path, "changed while it was read", offset=self._offset[index],
                          note="try again when the link is done")
        return parts[1].rsplit(b"/", 1)[-1], parts[2]

    def object_at(self, address: int) -> bytes:
        """The object of the input section at an address, as in names of sections; or empty."""
        return self.objects_at(np.array([address], np.uint64))[0]

    def objects_at(self, addresses: np.ndarray) -> list[bytes]:
        """The same for many addresses."""
        groups = self.ranges.innermost(addresses)
        found = iter(self.objects(groups[groups >= 0]))
        return [next(found) if group >= 0 else b"" for group in groups.tolist()]

    def objects(self, groups: np.ndarray) -> list[bytes]:
        """The object of each of these groups."""
        new = [group for group in np.unique(groups).tolist() if group not in self._objects]
        for group, (object_name, _) in zip(new, self._inputs(np.array(new, np.int64)), strict=True):
            self._objects[group] = self._known.setdefault(object_name, object_name)
        return list(map(self._objects.__getitem__, groups.tolist()))

    def _read(self, stream: BinaryIO) -> set[tuple[bytes, int, int]]:
        """Collects the input sections; returns the name, address and size of the output sections.

        An output section that is not loaded, or that has addresses of others (.tbss), is left out:
        nothing is touched there.
        """
        sections = self._elf.sections
        overlaid = ((sections["type"] == constants.SHT_NOBITS)
                    & (sections["flags"] & constants.SHF_TLS != 0))
        usable = {place: number for number, place in enumerate(self._places())
                  if self._elf.section_classes[number] and not overlaid[number]}
        outputs = set()
        current = None
        for offset, text in _sections(stream):
            line = _LINE.fullmatch(text) if offset else None
            if not offset and not _HEADER.fullmatch(text):
                raise BadData(self._path, "not a link map of lld", line=1, note=_MAKE_ONE)
            if offset and not line:
                raise BadData(self._path, "damaged: neither a section nor a symbol"
                              if text.endswith(b"\n")
                              else "truncated: the last line has no newline",
                              line=self._line_at(offset), note=_MAKE_ONE)
            if line and not line[3]:
                place = line[4], int(line[1], 16), int(line[2], 16)
                outputs.add(place)
                current = usable.get(place)
            elif line and len(line[3]) == 8 and current is not None:
                self._add(Span(current, int(line[1], 16), int(line[1], 16) + int(line[2], 16)),
                          line[4], offset)
        return outputs

    def _line_at(self, offset: int) -> int:
        """The number of a line, for messages."""
        with files.open_input(self._path, note=_MAKE_ONE) as stream:
            return 1 + sum(piece.count(b"\n") for piece in _pieces(stream, offset))

    def _add(self, span: Span, name: bytes, offset: int) -> None:
        parts = _INPUT.fullmatch(name)
        if not parts or span.start == span.end:
            return  # a command of a linker script, or nothing
        output = self._elf.sections[span.section]
        first = int(output["addr"])
        last = min(first + int(output["size"]), _TOP)
        if not first <= span.start < span.end <= last:
            raise BadData(self._path, "an input section lies outside its output section",
                          line=self._line_at(offset), note=_MAKE_ONE)
        if _STRINGS.search(parts[2]):
            self.strings.append(span)
        elif _MADE_BY_LLD.fullmatch(name) or output["type"] in constants.SHT_ARRAYS:
            self._made.append(span)
        else:
            for column, value in zip((self._section, self._start, self._end, self._offset),
                                     (*span, offset), strict=True):
                column.append(value)

    def _places(self) -> list[tuple[bytes, int, int]]:
        """Name, address and size of each section of the linked file."""
        sections = self._elf.sections
        return list(zip(self._elf.section_names, sections["addr"].tolist(),
                        sections["size"].tolist(), strict=True))

    def _check_outputs(self, outputs: set[tuple[bytes, int, int]]) -> None:
        for (name, address, size), loaded in zip(self._places(), self._elf.section_classes,
                                                 strict=True):
            if loaded and size and (name, address, size) not in outputs:
                raise self._of_another_link(f"it has no section {os.fsdecode(name)} of {size:#x} "
                                            f"bytes at {address:#x}")

    def _check_symbols(self) -> None:
        """Two links may differ only in the order of their sections, which symbols show."""
        symbols = self._elf.linked_symbols()
        placed = np.isin(symbols.type, (constants.STT_FUNC, constants.STT_OBJECT))
        placed &= symbols.size > 0
        placed &= np.isin(symbols.section, np.unique(_numbers(self._section)))
        rows = np.flatnonzero(placed)
        rows = rows[::1 + len(rows) // _MAX_CHECKED]
        start, end = symbols.value[rows], symbols.ends()[rows]
        fits = np.zeros(len(start), bool)
        for ranges in (self.ranges, self.made, _ranges(self.strings)):
            group = ranges.innermost(start)
            fits |= (group >= 0) & (end <= np.append(ranges.end, np.uint64(0))[group])
        misfits = np.count_nonzero(~fits)
        if misfits > _MISFITS * len(fits):
            raise self._of_another_link(f"{misfits} of {len(fits)} symbols lie in no input section")

    def _of_another_link(self, why: str) -> BadData:
        return BadData(self._path, f"is not the map of the link of {self._elf.path}, or is "
                                   f"truncated: {why}", note=_MAKE_ONE)


def _sections(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The offset and text of each line that may be a section's, and of the first line."""
    offset, rest = 0, b""
    while data := stream.read(max(_PIECE, len(rest))):
        data = rest + data
        end = data.rfind(b"\n") + 1
        if not offset:
            numbers_end = data.find(b"Align") + len(b"Align")
        for first, last in _unlike_symbols(data, end, numbers_end):
            yield offset + first, data[first:last]
        offset, rest = offset + end, data[end:]
    if rest:
        yield offset, rest


def _unlike_symbols(data: bytes, end: int, numbers_end: int) -> Iterator[tuple[int, int]]:
    """Where lines begin and end, without those of symbols whose numbers are as wide as usual."""
    text = np.frombuffer(data, np.uint8, end)
    lasts = np.flatnonzero(text == ord("\n")) + 1
    firsts = np.append(0, lasts[:-1])[:len(lasts)]
    long = np.flatnonzero(lasts - firsts > numbers_end + _BEFORE_A_SYMBOL)
    behind = firsts[long] + numbers_end
    # 8 bytes at each byte: nearly all of a hundred megabytes of lines are those of symbols.
    words = np.ndarray(max(end - 7, 0), "u8", data, strides=1)
    spaces = np.frombuffer(b" " * 8, "u8")
    is_symbol = (text[behind - 1] != ord(" ")) & (words[behind] == spaces) & (
        words[behind + 8] == spaces) & (text[behind + 16] == ord(" "))
    is_other = np.ones(len(lasts), bool)
    is_other[long[is_symbol]] = False
    return zip(firsts[is_other].tolist(), lasts[is_other].tolist(), strict=True)


def _pieces(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """The beginning of a file, in pieces."""
    while size and (piece := stream.read(min(size, _PIECE))):
        yield piece
        size -= len(piece)


def _ranges(spans: list[Span]) -> Ranges:
    places = np.array(spans, np.uint64).reshape(-1, 3)
    return Ranges(places[:, 1], places[:, 2])


def _numbers(values: "array[int]") -> np.ndarray:
    return np.array(values, np.uint64)

