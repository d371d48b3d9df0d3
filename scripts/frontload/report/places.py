"""The places of a recorded file: sections and segments as recorded; names, front and loading from
the file itself, if it is here.

An *offset* counts from the start of the file; an *address* is the one that the linker assigned.

The file holds the names of functions and data. It is read where it was recorded or, if it is gone,
at the caller's path of a file with the same build-id. Without a file, or if it is stripped, places
have no names.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from frontload.base.arrays import np
from frontload.base.errors import Failure
from frontload.base.intervals import distinct, signed
from frontload.base.spans import Spans
from frontload.elf import file as elves
from frontload.elf import front
from frontload.elf.file import Elf
from frontload.elf.loading import Loading, read_loading
from frontload.elf.section_names import NO_SECTION
from frontload.profile.symbol_names import SymbolNames, names_of
from frontload.reading import asked
from frontload.report.recorded import File

_NOWHERE = 1 << 60  # no address


class Places:
    """The places of one file. `elsewhere` are paths by build-id."""

    def __init__(self, file: File, elsewhere: Mapping[str, str] | None = None):
        self.file = file
        self._build_id = file.build_id or ""
        self._paths = file.path, (elsewhere or {}).get(self._build_id, file.path)
        ordered = sorted(file.sections, key=lambda section: section.offset)
        bounds = np.array([(section.offset, section.offset + section.size) for section in ordered],
                          np.int64).reshape(-1, 2)
        start, end = np.minimum(bounds, file.size).T
        # In a damaged file sections overlap: the earlier one has the common bytes.
        start = np.maximum(start, np.maximum.accumulate(np.append(0, end))[:-1])
        some = np.flatnonzero(end > start)
        self._start, self._end = start[some], end[some]
        self._names = [ordered[section].name for section in some.tolist()]

    def section_at(self, offsets: np.ndarray) -> list[str]:
        """The name of the section at each offset."""
        index = np.searchsorted(self._start, offsets, "right") - 1
        inside = (index >= 0) & (offsets < np.append(self._end, 0)[index])
        return [self._names[place] if found else NO_SECTION
                for place, found in zip(index.tolist(), inside.tolist(), strict=True)]

    def cleared(self, offsets: np.ndarray) -> np.ndarray:
        """Whether a write at each offset is to .bss: the last page of the data is mapped whole, and
        cleared behind the data, whatever the file has there."""
        found = np.zeros(len(offsets), bool)
        for segment in self.file.segments:
            end = segment.offset + segment.file_bytes
            if "w" in segment.flags and segment.memory_bytes > segment.file_bytes:
                page = self.file.page_size
                found |= (offsets >= end) & (offsets < -(-end // page) * page)
        return found

    def bytes_by_section(self, spans: Spans) -> dict[str, int]:
        """How many of these bytes lie in the sections of each name. NO_SECTION, for bytes in none,
        comes last: each byte counts once."""
        found: Counter[str] = Counter()
        for name, size in zip(self._names, spans.between(self._start, self._end).tolist(),
                              strict=True):
            found[name] += size
        rest = spans.size - found.total()
        return found | {NO_SECTION: found.pop(NO_SECTION, 0) + rest}

    def sections(self, *names: str) -> Spans:
        """The bytes of the sections with these names."""
        mine = np.isin(self._names, names) if self._names else np.zeros(0, bool)
        return Spans(self._start[mine], self._end[mine])

    def segment_flags(self, offsets: np.ndarray) -> np.ndarray:
        """For each offset `x`, `w` or `r`: mapped as code, else as writable data, else as
        constants; empty where it is not mapped."""
        flags = np.zeros(len(offsets), "U1")
        for kind in "rwx":  # the strongest wins where a page belongs to two segments
            for segment in self.file.segments:
                if kind in segment.flags:
                    flags[segment.holds(offsets)] = kind
        return flags

    def addresses(self, offsets: np.ndarray) -> np.ndarray:
        """The address of each offset; the highest one for offsets that are not loaded."""
        return _mapped(offsets, [(segment.offset, segment.file_bytes, segment.address)
                                 for segment in self.file.segments], _NOWHERE).astype(np.uint64)

    def offsets(self, addresses: np.ndarray) -> np.ndarray:
        """The offset of each address; -1 without bytes in the file."""
        return _mapped(signed(addresses), [(segment.address, segment.file_bytes, segment.offset)
                                           for segment in self.file.segments], -1)

    def ranges_in_file(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of addresses as ranges of offsets, cut where the file ends; ranges without bytes
        in it become empty."""
        first = self.offsets(start)
        stop = np.where(first < 0, 0, np.minimum(first + signed(end - start), self.file.size))
        return np.maximum(first, 0), np.maximum(stop, np.maximum(first, 0))

    @cached_property
    def elf(self) -> Elf | None:
        """The file itself, if it is the one that was recorded and is not damaged."""
        return next(filter(None, map(self._same, self._paths)), None)

    def _same(self, path: str) -> Elf | None:
        try:
            if (not self.file.segments or not Path(path).is_file()
                    or Path(path).stat().st_size != self.file.size):
                return None
            found = elves.read(path)
        except (Failure, OSError, ValueError):  # ValueError: not a path on this system
            return None
        return found if found.linked and found.build_id.hex() == self._build_id else None

    @cached_property
    def front(self) -> Spans | None:
        """The pages of the front, or those in another linker's note; None if there are none; as
        recorded if the file is not here."""
        if self.elf is not None:
            return next((each.pages for each in asked.by_note(self.elf)), None)
        end = front.end_by_sections(
            front.Loaded(section.name.encode("utf-8", "surrogatepass"), section.offset,
                         section.size)
            for section in self.file.sections
            if any(0 <= section.offset - segment.offset < segment.file_bytes
                   for segment in self.file.segments))
        return None if end is None else Spans(np.zeros(1), np.array([min(end, self.file.size)]))

    @property
    def front_name(self) -> str:
        return "front" if self.elf is None or front.has_front(self.elf) else "note"

    @cached_property
    def loading(self) -> Loading | None:
        """The loader's tables."""
        try:
            return read_loading(self.elf.path) if self.elf else None
        except (Failure, OSError):
            return None

    @cached_property
    def symbols(self) -> SymbolNames | None:
        """The symbols of the file, if it is here and has any."""
        return names_of(self.elf) if self.elf else None

    def symbol_at(self, offsets: np.ndarray) -> list[bytes]:
        """The name of the innermost symbol at each offset, empty if there is none."""
        if self.symbols is None:
            return [b""] * len(offsets)
        groups = self.symbols.ranges.innermost(self.addresses(offsets))
        used = distinct(groups[groups >= 0])
        names = dict(zip(used.tolist(), self.symbols.symbol_names(used), strict=True))
        return [names.get(group, b"") for group in groups.tolist()]


def _mapped(values: np.ndarray, parts: Sequence[tuple[int, int, int]], otherwise: int
            ) -> np.ndarray:
    """Moves each value by the first part (from, how many, to) that holds it."""
    found = np.full(len(values), otherwise, np.int64)
    for start, size, to in reversed(parts):
        inside = (values >= start) & (values - start < size)
        found[inside] = values[inside] - start + min(to, _NOWHERE)
    return found
