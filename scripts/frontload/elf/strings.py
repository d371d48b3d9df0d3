"""Names in the string tables of ELF files. A table is read when the first name is asked for, and
only requested names become objects: a large program has 5 million symbols."""

from collections.abc import Callable, Collection
from functools import cached_property

from frontload.base.arrays import np
from frontload.elf.contents import damaged

_PIECE = 1 << 16  # names that are compared at a time

# Overlapping names can be many times as large as their table: reading them would take all memory.
# Linkers share the ends of names, which stays far below this factor.
_NAME_OVERLAP = 8


class Names:
    """Names in a string table: name i starts at `offsets[i]`, and ends before a zero byte. Names
    behind the end of the table are empty."""

    def __init__(self, path: str, read: Callable[[], bytes], offsets: np.ndarray):
        """`path` is for messages; `read` gives the table."""
        self._path = path
        self._read = read
        self._offsets = offsets

    @cached_property
    def _table(self) -> bytes:
        return self._read()

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, index: int) -> bytes:
        return self.some(np.array([index]))[0]

    def some(self, indexes: np.ndarray) -> list[bytes]:
        """The names at these indexes, in their order."""
        table = self._table
        most = left = _NAME_OVERLAP * (len(table) + 16 * len(indexes))
        texts: list[bytes] = []
        for offset in self._offsets[indexes].tolist():
            end = table.find(b"\0", offset)
            text = table[offset:end] if end >= 0 else table[offset:]
            left -= len(text)
            if left < 0:
                raise damaged(self._path, f"more than {most} bytes of names in a string table of "
                              f"{len(table)} bytes")
            texts.append(text)
        return texts

    def all(self) -> list[bytes]:
        return self.some(np.arange(len(self._offsets)))

    def present(self) -> np.ndarray:
        """Which names are not empty."""
        found = self._offsets < len(self._table)
        found[found] = np.frombuffer(self._table, np.uint8)[self._offsets[found]] != 0
        return found

    def having(self, text: bytes) -> np.ndarray:
        """The indexes of the names that contain this text."""
        table, order = self._table, np.argsort(self._offsets)
        ascending = self._offsets[order].astype(np.int64)
        found = np.zeros(len(order), bool)
        position = table.find(text)
        while position >= 0:
            # Each text between two zero bytes once. Names may begin in the middle of it.
            begin, end = table.rfind(b"\0", 0, position) + 1, table.find(b"\0", position)
            end = end if end >= 0 else len(table)
            first, last = np.searchsorted(ascending, [begin, table.rfind(text, begin, end) + 1])
            found[order[first:last]] = True
            position = table.find(text, end)
        return np.flatnonzero(found)

    def find(self, wanted: Collection[bytes],
             rows: np.ndarray | None = None) -> tuple[np.ndarray, list[bytes]]:
        """The indexes of the wanted names, ascending, and each name; only among the ascending
        `rows` if they are given."""
        known = wanted if isinstance(wanted, set | frozenset | dict) else set(wanted)
        rows = np.arange(len(self._offsets)) if rows is None else rows
        found, names = [rows[:0]], list[bytes]()
        for begin in range(0, len(rows), _PIECE):
            piece = rows[begin:begin + _PIECE]
            texts = self.some(piece)
            found.append(piece[np.array([text in known for text in texts], bool)])
            names += [text for text in texts if text in known]
        return np.concatenate(found), names
