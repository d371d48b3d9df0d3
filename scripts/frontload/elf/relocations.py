"""The places that the loader relocates before the first instruction of a program, and how small the
table of its relative relocations becomes when it is packed.

**Packed** relative relocations (DT_RELR) are words: an even one is the address of a relocation, an
odd one a bitmap of which of the next words (one fewer than a word has bits) are relocated too. See
the generic ABI, section "Relative Relocation Table".
"""

from bisect import bisect_left
from collections.abc import Iterator

from frontload.base.arrays import np
from frontload.base.intervals import distinct
from frontload.elf.loading import Loading

# Relocation types by machine: the processor supplements of the System V ABI for x86-64 (table
# "Relocation Types", with x32's RELATIVE64), AArch64 ("Dynamic relocations") and i386.
_RELATIVE = {"EM_X86_64": (8, 38), "EM_AARCH64": (1027,), "EM_386": (8,)}
_COPIES = {"EM_X86_64": (5,), "EM_AARCH64": (1024,), "EM_386": (5,)}
_CHUNK = 1 << 14  # words of bitmaps that are expanded at once


def packing(loading: Loading) -> tuple[int, int]:
    """The bytes of the relative relocations that are not packed, now and with -z
    pack-relative-relocs. No relocation of an unknown machine is known to be relative."""
    table, word = loading.relocations, loading.word
    relative = np.isin(table.type, _RELATIVE.get(loading.machine, ()))
    even = relative & (table.offset % np.uint64(2) == 0)
    return (int(table.size[relative].sum()), packed_words(table.offset[even], word) * word
            + int(table.size[relative & ~even].sum()))


def copies(loading: Loading) -> np.ndarray:
    """Where the loader copies data of libraries to, for a program that addresses it directly."""
    return loading.relocations.offset[np.isin(loading.relocations.type,
                                              _COPIES.get(loading.machine, ()))]


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
