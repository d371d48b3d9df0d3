"""A recorded file, with additions from the file itself if it is here: names, front, loading.

The file holds the names of functions and data. It is read where it was recorded or, if it is gone,
at the caller's path of a file with the same build-id. Without a file, or if it is stripped, places
have no names.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from frontload.base.errors import Failure
from frontload.elf import file as elves
from frontload.elf import front
from frontload.elf.file import Elf
from frontload.elf.loading import Loading, read_loading
from frontload.profile.symbol_names import SymbolNames, names_of
from frontload.report.layout import Layout
from frontload.report.recorded import File
from frontload.report.spans import Spans


class Places(Layout):
    """The places of one file. `elsewhere` are paths by build-id."""

    def __init__(self, file: File, elsewhere: Mapping[str, str] | None = None):
        super().__init__(file)
        self._paths = [file.path]
        if elsewhere and file.build_id and file.build_id in elsewhere:
            self._paths.append(elsewhere[file.build_id])

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
        return found if found.linked and found.build_id.hex() == self.file.build_id else None

    @cached_property
    def front(self) -> Spans | None:
        """The bytes of the front, None if there is none; as recorded if the file is not here."""
        if self.elf is not None:
            ranges = front.ranges_of(self.elf)
        else:
            end = self._front_end_by_sections()
            ranges = [] if end is None else [(0, end)]
        if not ranges:
            return None
        begin, end = np.array(ranges).T
        return Spans(begin, np.minimum(end, self.file.size))

    def _front_end_by_sections(self) -> int | None:
        return front.end_by_sections(
            front.Loaded(section.name.encode("utf-8", "surrogatepass"), section.offset,
                         section.size)
            for section in self.file.sections
            if any(0 <= section.offset - segment.offset < segment.file_bytes
                   for segment in self.file.segments))

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
        used, which = np.unique(groups[groups >= 0], return_inverse=True)
        names = self.symbols.symbol_names(used)
        found = iter(which.tolist())
        return [names[next(found)] if group >= 0 else b"" for group in groups.tolist()]
