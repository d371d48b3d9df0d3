"""Which function or section an offset of a file belongs to."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from frontload.base.errors import BadData, Failure
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.measure.sections import NO_SECTION
from frontload.pagecache.kernel import PAGE_SIZE

UNKNOWN = "?"
_BSS = ".bss"


class Functions:
    """The functions of one file by their offset in it; none if it is not readable as ELF."""

    def __init__(self, path: str, segments: Sequence[dict]):
        self._segments = segments
        self._symbols = None
        try:
            file = elf.read(path)
        except (BadData, Failure, OSError):
            return
        self._symbols = symbols = file.symbols or file.dynamic_symbols
        if symbols is None:
            return
        is_function = np.isin(symbols.type, (constants.STT_FUNC, constants.STT_GNU_IFUNC))
        code = np.flatnonzero(is_function & (symbols.section > 0))
        # Of several symbols of one function, the first in the file.
        self._order = code[np.argsort(symbols.value[code], kind="stable")]
        self._starts = symbols.value[self._order]
        self._ends = symbols.ends()[self._order]

    def at(self, offset: int) -> str:
        address = self._address(offset)
        if self._symbols is None or address is None:
            return UNKNOWN
        last = int(np.searchsorted(self._starts, np.uint64(address), side="right")) - 1
        if last < 0:
            return UNKNOWN
        first = int(np.searchsorted(self._starts, self._starts[last], side="left"))
        if address >= self._ends[first:last + 1].max() and self._ends[last] > self._starts[last]:
            return UNKNOWN  # between functions
        return self._symbols.names[self._order[first]].decode(errors="backslashreplace")

    def _address(self, offset: int) -> int | None:
        for segment in self._segments:
            if segment["offset"] <= offset < segment["offset"] + segment["file_bytes"]:
                return segment["address"] + offset - segment["offset"]
        return None


class Sections:
    """The sections of one file, as they are in the document.

    The last page of the data is mapped whole: in memory, the data is followed by the beginning of
    .bss, which is cleared; in the file, by something else.
    """

    def __init__(self, sections: Sequence[dict], segments: Sequence[dict] = ()):
        self._sections = sorted(sections, key=lambda section: section["offset"])
        self._starts = [section["offset"] for section in self._sections]
        ends = [segment["offset"] + segment["file_bytes"] for segment in segments
                if "w" in segment["flags"] and segment["memory_bytes"] > segment["file_bytes"]]
        self._cleared = [(end, -(-end // PAGE_SIZE) * PAGE_SIZE) for end in ends]

    def at(self, offset: int, written: bool = False) -> str:
        if written and any(start <= offset < end for start, end in self._cleared):
            return _BSS
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return NO_SECTION
        section = self._sections[index]
        return section["name"] if offset < section["offset"] + section["size"] else NO_SECTION
