"""Which pages of a file are in the page cache, as a value: counted, as runs, and as text.

resident  a page that is in the page cache and up to date
run       a range of consecutive resident pages; a start that reads in order leaves few of them
"""

from dataclasses import dataclass

from frontload.base.arrays import np
from frontload.pagecache.kernel import PAGE_SIZE


@dataclass(frozen=True)
class Residency:
    """Which pages of one file of `size` bytes are resident: a boolean per page."""

    size: int
    pages: np.ndarray

    def without(self, other: "Residency") -> "Residency":
        """The pages that are not in another state of the file."""
        return Residency(self.size, self.pages & ~other.pages)

    @property
    def resident_pages(self) -> int:
        return int(np.count_nonzero(self.pages))

    @property
    def resident_bytes(self) -> int:
        whole = self.resident_pages * PAGE_SIZE
        return whole - (-self.size % PAGE_SIZE if self.pages[-1:].any() else 0)

    def runs(self) -> list[tuple[int, int]]:
        """The runs: their first pages, and how many pages each has."""
        pages = np.concatenate([[False], self.pages, [False]])
        edges = np.flatnonzero(pages[1:] != pages[:-1]).tolist()
        return [(first, end - first) for first, end in zip(edges[::2], edges[1::2], strict=True)]

    def to_text(self) -> str:
        """The runs as text, `first+pages` separated by spaces: the form used in JSON."""
        return " ".join(f"{first}+{pages}" for first, pages in self.runs())

    @classmethod
    def from_text(cls, size: int, text: str) -> "Residency":
        pages = np.zeros(-(-size // PAGE_SIZE), dtype=bool)
        for run in text.split():
            first, count = map(int, run.split("+"))
            pages[first:first + count] = True
        return cls(size, pages)
