"""Which file and offset an address of a process stands for: its mappings, as they were made.

The recorder does not report what was unmapped, so a mapping stays here until another one covers it.
That does no harm: a process that faults there is ended.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Region:
    start: int
    end: int
    offset: int
    file: int  # its number, -1 for memory without a file
    writable: bool


class AddressSpace:
    def __init__(self) -> None:
        self._regions: list[Region] = []  # by address

    def copy(self) -> "AddressSpace":
        other = AddressSpace()
        other._regions = self._regions.copy()
        return other

    def add(self, new: Region) -> None:
        """Maps a region; earlier regions there are cut or removed."""
        first = max(0, self._behind(new.start) - 1)
        after = first
        kept = []
        while after < len(self._regions) and self._regions[after].start < new.end:
            old = self._regions[after]
            if old.start < new.start:
                kept.append(replace(old, end=min(old.end, new.start)))
            if old.end > new.end:
                kept.append(replace(old, start=new.end,
                                    offset=old.offset + new.end - old.start))
            after += 1
        self._regions[first:after] = sorted([*kept, new], key=lambda region: region.start)

    def _behind(self, address: int) -> int:
        """The first region that begins behind an address."""
        return bisect_right(self._regions, address, key=lambda region: region.start)

    def find(self, address: int) -> Region | None:
        index = self._behind(address) - 1
        if index >= 0 and address < self._regions[index].end:
            return self._regions[index]
        return None

    def place(self, address: int) -> tuple[int, int]:
        """The number of the file and the offset in it; -1 and -1 where there is none."""
        region = self.find(address)
        if region is None or region.file < 0:
            return -1, -1
        return region.file, region.offset + address - region.start
