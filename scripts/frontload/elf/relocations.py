"""What the relocations of a linked file cost when it is loaded, and what would change that.

Before the first instruction of a program, the loader reads its relocation tables, writes to every
place that they name, and looks up symbols. It reads each page that it writes to from the file, and
from then on the page is private memory of the process. The file alone is enough to count these
costs.

**Pages** are of 4 KiB; a relocation writes one address. Lazily bound jump slots are written at
startup only if the file is position-independent, and their symbols are looked up later.

**Packed** relative relocations (DT_RELR) are words: an even one is the address of a relocation, an
odd one a bitmap of which of the next words (one fewer than a word has bits) are relocated too. See
the generic ABI, section "Relative Relocation Table".

**A change** is the effect of a linker option on one count, as the tables show it. Further effects
of the linker (such as dropping unreferenced parts) come on top. Only the author knows whether the
program may be linked in this way: -Bsymbolic-functions, for one, keeps others from replacing a
function of the library.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from frontload.base.arrays import np
from frontload.base.intervals import distinct
from frontload.elf.constants import STT_FUNC
from frontload.elf.file import Elf
from frontload.elf.loading import Loading
from frontload.elf.symbols import UNDEFINED

PAGE = 4096
RELATIVE, PACKED, SYMBOLIC, JUMP_SLOT = "relative", "packed relative", "symbolic", "jump slots"
INDIRECT, THREAD_LOCAL, COPY, OTHER = "indirect functions", "thread-local", "copies", "other"
_ORDER = (RELATIVE, PACKED, SYMBOLIC, JUMP_SLOT, INDIRECT, THREAD_LOCAL, COPY, OTHER)

# Relocation types by machine: the processor supplements of the System V ABI for x86-64 (table
# "Relocation Types", with x32's RELATIVE64), AArch64 ("Dynamic relocations") and i386.
_KINDS = {
    "EM_X86_64": {RELATIVE: (8, 38), SYMBOLIC: (1, 2, 6, 10), JUMP_SLOT: (7,), INDIRECT: (37,),
                  THREAD_LOCAL: (16, 17, 18, 36), COPY: (5,)},
    "EM_AARCH64": {RELATIVE: (1027,), SYMBOLIC: (257, 1025), JUMP_SLOT: (1026,), INDIRECT: (1032,),
                   THREAD_LOCAL: (1028, 1029, 1030, 1031), COPY: (1024,)},
    "EM_386": {RELATIVE: (8,), SYMBOLIC: (1, 2, 6), JUMP_SLOT: (7,), INDIRECT: (42,),
               THREAD_LOCAL: (14, 35, 36, 37, 41), COPY: (5,)},
}

_DT_BIND_NOW, _DT_FLAGS, _DT_FLAGS_1 = 24, 30, 0x6ffffffb
_DF_BIND_NOW, _DF_1_NOW, _DF_1_PIE = 0x8, 0x1, 0x08000000
_CHUNK = 1 << 14  # words of bitmaps that are expanded at once


@dataclass
class Count:
    """How many relocations of a kind there are, and their bytes in the file."""

    number: int
    bytes: int


@dataclass(frozen=True)
class Change:
    """The effect of `option` on a count: `now` and `then`, in `unit`."""

    option: str
    what: str
    unit: str
    now: int
    then: int


@dataclass(frozen=True)
class Report:
    """The counts of a file, and possible changes."""

    kinds: dict[str, Count]
    pages: int  # written at startup
    lookups: int  # different symbols that are looked up at startup
    lazy_lookups: int  # further ones, at the first call
    changes: list[Change]

    @property
    def number(self) -> int:
        return sum(count.number for count in self.kinds.values())

    @property
    def bytes(self) -> int:
        return sum(count.bytes for count in self.kinds.values())

    @property
    def private_bytes(self) -> int:
        """Private memory that the pages take in each process."""
        return self.pages * PAGE


def examine(elf: Elf, loading: Loading) -> Report | None:
    """Counts; None for an unknown machine."""
    if loading.machine not in _KINDS:
        return None
    return _Examination(elf, loading).report()


def copies(loading: Loading) -> np.ndarray:
    """Where the loader copies data of libraries to, for a program that addresses it directly."""
    types = _KINDS.get(loading.machine, {}).get(COPY, ())
    return loading.relocations.offset[np.isin(loading.relocations.type, types)]


def packed_words(addresses: np.ndarray, word: int) -> int:
    """How many words of DT_RELR hold relocations at these even addresses, encoded greedily."""
    addresses = distinct(addresses)
    span = (8 * word - 1) * word
    residue = addresses % word
    ends = np.append(np.flatnonzero(residue[1:] != residue[:-1]) + 1, len(addresses)).tolist()
    places = addresses.data  # much faster to bisect than the array
    words, start = 0, 0
    for end in ends:  # a bitmap cannot go on at another alignment
        while start < end:
            base = places[start] + word
            start += 1
            words += 1
            while (stop := bisect_left(places, base + span, start, end)) > start:
                words += 1
                start, base = stop, base + span
    return words


def unpacked(words: np.ndarray, word: int) -> Iterator[np.ndarray]:
    """The addresses that words of DT_RELR encode, in parts, to save memory."""
    bits = 8 * word - 1
    base = np.uint64(0)  # where the next bitmap begins
    for first in range(0, len(words), _CHUNK):
        part = words[first:first + _CHUNK]
        is_address = part & np.uint64(1) == 0
        yield part[is_address]
        # The last address before each word, or the base from the part before; and how far from it.
        position = np.arange(len(part))
        last = np.maximum.accumulate(np.where(is_address, position, -1))
        known = np.where(last < 0, base, part[last] + np.uint64(word))
        bases = known + ((position - last - 1) * bits * word).astype(np.uint64)
        bitmaps, starts = part[~is_address], bases[~is_address]
        yield np.concatenate([
            starts[bitmaps >> np.uint64(bit + 1) & np.uint64(1) == 1] + np.uint64(bit * word)
            for bit in range(bits)])
        base = (bases[-1:] + np.uint64(bits * word))[0]  # an array, which wraps around in silence


def _pages(addresses: np.ndarray, word: int) -> np.ndarray:
    ends = addresses + np.uint64(word - 1)
    return distinct(addresses // np.uint64(PAGE), ends // np.uint64(PAGE))


class _Examination:
    def __init__(self, elf: Elf, loading: Loading):
        self._elf, self._loading = elf, loading
        self._table = loading.relocations
        self._kinds = {kind: np.isin(self._table.type, types)
                       for kind, types in _KINDS[loading.machine].items()}
        self._kinds[OTHER] = ~np.isin(self._table.type, sum(_KINDS[loading.machine].values(), ()))
        flags, flags_1 = loading.dynamic.get(_DT_FLAGS, 0), loading.dynamic.get(_DT_FLAGS_1, 0)
        self._is_now = bool(_DT_BIND_NOW in loading.dynamic or flags & _DF_BIND_NOW
                            or flags_1 & _DF_1_NOW)
        self._is_pie = not loading.fixed and bool(loading.has_interpreter or flags_1 & _DF_1_PIE)
        self._is_library = not loading.fixed and not self._is_pie

        packed = [(len(part), _pages(part, loading.word))
                  for part in unpacked(loading.packed, loading.word)]
        self._packed = sum(number for number, _ in packed)
        self._packed_pages = distinct(np.empty(0, np.uint64), *(pages for _, pages in packed))

    def report(self) -> Report:
        slots, looked_up = self._kinds[JUMP_SLOT], self._looked_up()
        at_start = self._lookups(looked_up & (self._is_now | ~slots))
        everything = self._lookups(looked_up)
        kinds = {kind: Count(int(rows.sum()), int(self._table.size[rows].sum()))
                 for kind, rows in self._kinds.items()}
        kinds[PACKED] = Count(self._packed, len(self._loading.packed) * self._loading.word)
        return Report(
            kinds={kind: kinds[kind] for kind in _ORDER if kinds[kind].number},
            pages=len(self._written(self._written_at_start(), self._packed_pages)),
            lookups=at_start, lazy_lookups=everything - at_start,
            changes=[change for change in (*self._packing(), *self._fixing(), *self._symbolic())
                     if change.now != change.then])

    def _lookups(self, rows: np.ndarray) -> int:
        symbols = self._table.symbol[rows]
        return len(distinct(symbols[symbols != 0]))

    def _looked_up(self) -> np.ndarray:
        return ~self._kinds[RELATIVE] & ~self._kinds[INDIRECT]

    def _written_at_start(self) -> np.ndarray:
        return ~self._kinds[JUMP_SLOT] | (not self._loading.fixed or self._is_now)

    def _written(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        pages = _pages(self._table.offset[rows], self._loading.word)
        return distinct(pages, others)

    def _packing(self) -> Iterator[Change]:
        relative, word = self._kinds[RELATIVE], self._loading.word
        even = relative & (self._table.offset % np.uint64(2) == 0)
        now = int(self._table.size[relative].sum())
        then = (packed_words(self._table.offset[even], word) * word
                + int(self._table.size[relative & ~even].sum()))
        if then < now:
            yield Change("-z pack-relative-relocs", "relative relocations", "bytes", now, then)

    def _fixing(self) -> Iterator[Change]:
        relative = self._kinds[RELATIVE]
        number = int(relative.sum()) + self._packed
        if not self._is_pie or not number:
            return
        size = (int(self._table.size[relative].sum())
                + len(self._loading.packed) * self._loading.word)
        now = self._written(self._written_at_start(), self._packed_pages)
        others = ~relative & (self._is_now | ~self._kinds[JUMP_SLOT])
        then = self._written(others, np.empty(0, np.uint64))
        yield Change("-no-pie", "relative relocations", "bytes", size, 0)
        yield Change("-no-pie", "pages written", "pages", len(now), len(then))

    def _symbolic(self) -> Iterator[Change]:
        symbols = self._elf.dynamic_symbols
        if not self._is_library or symbols is None or not len(symbols.section):
            return
        looked_up, slots = self._looked_up(), self._kinds[JUMP_SLOT]
        # A symbol outside the table (the file is damaged) is not ours.
        known = self._table.symbol < len(symbols.section)
        row = np.where(known, self._table.symbol, 0)
        ours = (slots | self._kinds[SYMBOLIC]) & known & (symbols.section[row] != UNDEFINED)
        functions = ours & (symbols.type[row] == STT_FUNC)
        yield Change("-Bsymbolic-functions", "symbols looked up", "symbols",
                     self._lookups(looked_up), self._lookups(looked_up & ~functions))
