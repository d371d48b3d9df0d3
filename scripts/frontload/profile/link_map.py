"""Reads the map that lld writes (-Wl,-Map=FILE): which input section lies where in a linked file.

It gives places without symbols, such as jump tables and constants, a name that the next link also
has: the name of the input section and its object.

A line is four numbers (address, load address, size, alignment) and a name. The indentation of the
name shows its kind: none for an output section, 8 for an input section as `object:(name)`, 16 for a
symbol. The object `<internal>` holds what lld makes itself: tables for the loader, and constants
and strings that it merged, whose owners the map does not have. Symbols are skipped: lld demangles
their names here, and the symbol table of the linked file has them anyway.

A merged string is named by its contents: several objects share it, and every link moves it.
"""

import os
import re
from typing import BinaryIO, NamedTuple

from frontload.base import files
from frontload.base.arrays import np
from frontload.base.errors import BadData
from frontload.base.intervals import Ranges
from frontload.elf import constants
from frontload.elf import file as elves
from frontload.profile.startup_profile import Name

_HEADER = re.compile(rb" *VMA +LMA +Size +Align +Out +In +Symbol\n")
_LINE = re.compile(rb" *([0-9a-f]{1,16}) +[0-9a-f]+ +([0-9a-f]{1,16}) +[0-9]+ "
                   rb"( {16}| {8}|(?! ))(.*)\n", re.DOTALL)
_BEFORE_A_SYMBOL = b" " * 17  # behind the numbers
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

    ranges: those that a profile can name
    strings: sections of strings with characters of one byte, which are named by contents
    made: other parts that the linker made, or always keeps together (.init_array), without a name
    """

    def __init__(self, path: os.PathLike[str] | str, elf: elves.Elf):
        self._path = path
        self._elf = elf
        self.strings: list[Span] = []
        self._made: list[Span] = []
        # The span, object and name of each section that a profile can name. Many are of one object.
        self._spans: list[Span] = []
        self._inputs: list[tuple[bytes, bytes]] = []
        self._known: dict[bytes, bytes] = {}
        with files.open_input(path, note=_MAKE_ONE) as stream:
            outputs = self._read(stream)
        self._check_outputs(outputs)
        self.ranges = _ranges(self._spans)
        self.made = _ranges(self._made)
        self._check_symbols()

    def names(self, groups: np.ndarray) -> list[Name | None]:
        """The names of input sections; None for one that has none in a profile."""
        return list(map(self._name, self._first(groups)))

    def _name(self, index: int) -> Name | None:
        object_name, section = self._inputs[index]
        section_class = self._elf.section_classes[self._spans[index].section]
        return Name("section", section_class, section, object_name) if object_name else None

    def _first(self, groups: np.ndarray) -> list[int]:
        """The first section of each of these groups."""
        return self.ranges.order[self.ranges.sizes(groups)[0]].tolist()

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
        return [self._inputs[index][0] for index in self._first(groups)]

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
        numbers_end = 0
        for number, text in enumerate(stream, 1):
            if number == 1:
                if not _HEADER.fullmatch(text):
                    raise BadData(self._path, "not a link map of lld", line=1, note=_MAKE_ONE)
                numbers_end = text.find(b"Align") + len(b"Align")
                continue
            if text.startswith(_BEFORE_A_SYMBOL, numbers_end) and text.endswith(b"\n"):
                continue
            line = _LINE.fullmatch(text)
            if not line:
                raise BadData(self._path, "damaged: neither a section nor a symbol"
                              if text.endswith(b"\n")
                              else "truncated: the last line has no newline",
                              line=number, note=_MAKE_ONE)
            place = line[4], int(line[1], 16), int(line[2], 16)
            if not line[3]:
                outputs.add(place)
                current = usable.get(place)
            elif len(line[3]) == 8 and current is not None:
                self._add(Span(current, place[1], place[1] + place[2]), line[4], number)
        return outputs

    def _add(self, span: Span, name: bytes, line: int) -> None:
        parts = _INPUT.fullmatch(name)
        if not parts or span.start == span.end:
            return  # a command of a linker script, or nothing
        output = self._elf.sections[span.section]
        first = int(output["addr"])
        last = min(first + int(output["size"]), _TOP)
        if not first <= span.start < span.end <= last:
            raise BadData(self._path, "an input section lies outside its output section",
                          line=line, note=_MAKE_ONE)
        if _STRINGS.search(parts[2]):
            self.strings.append(span)
        elif _MADE_BY_LLD.fullmatch(name) or output["type"] in constants.SHT_ARRAYS:
            self._made.append(span)
        else:
            object_name = parts[1].rsplit(b"/", 1)[-1]
            self._spans.append(span)
            self._inputs.append((self._known.setdefault(object_name, object_name), parts[2]))

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
        placed &= np.isin(symbols.section, list({span.section for span in self._spans}))
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


class MergedStrings:
    """The strings in the string sections that a linker merged, to look addresses up in. Group i of
    `ranges` is a string with its terminating zero."""

    def __init__(self, elf: elves.Elf, spans: list[Span]):
        self._classes = elf.section_classes
        self._spans = sorted(spans, key=lambda span: span.start)
        size = sum(span.end - span.start for span in spans)
        if size > os.path.getsize(elf.path):  # sections that overlap could take all memory
            raise BadData(elf.path, f"smaller than its strings of {size} bytes",
                          note="it is damaged or incomplete: link it again")
        self._contents = [elves.read_range(elf, span.section, span.start, span.end - span.start)
                          for span in self._spans]
        starts, ends = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        for span, contents in zip(self._spans, self._contents, strict=True):
            end = np.flatnonzero(np.frombuffer(contents, np.uint8) == 0) + 1
            if not contents.endswith(b"\0"):
                end = np.append(end, len(contents))
            starts.append((np.append(0, end[:-1])[:len(end)] + span.start).astype(np.uint64))
            ends.append((end + span.start).astype(np.uint64))
        self.ranges = Ranges(np.concatenate(starts), np.concatenate(ends))
        self._first = np.array([span.start for span in self._spans], np.uint64)

    def names(self, groups: np.ndarray) -> list[Name | None]:
        """None for the empty string, which is padding."""
        return [self._name(int(self.ranges.start[group]), int(self.ranges.end[group]))
                for group in groups.tolist()]

    def _name(self, start: int, end: int) -> Name | None:
        index = int(np.searchsorted(self._first, start, "right")) - 1
        span = self._spans[index]
        text = self._contents[index][start - span.start:end - span.start].removesuffix(b"\0")
        return Name("string", self._classes[span.section], text) if text else None


def _ranges(spans: list[Span]) -> Ranges:
    return Ranges(np.array([span.start for span in spans], np.uint64),
                  np.array([span.end for span in spans], np.uint64))
