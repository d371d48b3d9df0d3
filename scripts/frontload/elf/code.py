"""The code of functions, such that it can be compared from one build to another: without the
addresses in it.

Where a compiler leaves an address to the linker, a relocation names the place. Of two builds, the
bytes there differ although nothing has changed but where things are. So they count as zero here,
and what counts besides all other bytes is where these places are. Two functions whose code is the
same may still call different functions: to be the same code is a sign, not a proof.

Objects and members of archives have such relocations. A linked file has them only if it was linked
with --emit-relocs; without, there is nothing to say of its code.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from frontload.base import files
from frontload.base.intervals import distinct
from frontload.elf import archive
from frontload.elf.constants import (
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHT_REL,
    SHT_RELA,
    SHT_SYMTAB,
    STT_FUNC,
)
from frontload.elf.contents import Contents, InMemory, OnDisk, Source, damaged
from frontload.elf.symbols import find_symbols

_SHT_CREL = 0x40000014  # relocations in fewer bytes, which nothing here reads
_CODE = SHF_ALLOC | SHF_EXECINSTR
_OBJECTS = "give the objects or archives of the build, or its program linked with --emit-relocs"
# How many bytes a relocation of a type writes, where that is not the usual number: the processor
# supplements of the System V ABI, tables of relocation types. RISC-V's calls are of two
# instructions.
_WIDTHS = {
    "EM_X86_64": (4, {1: 8, 16: 8, 17: 8, 18: 8, 24: 8, 25: 8, 27: 8, 28: 8, 29: 8, 30: 8, 31: 8,
                      33: 8, 12: 2, 13: 2, 14: 1, 15: 1}),
    "EM_386": (4, {20: 2, 21: 2, 22: 1, 23: 1}),
    "EM_AARCH64": (4, {257: 8, 260: 8, 259: 2, 262: 2}),
    "EM_RISCV": (4, {18: 8, 19: 8}),
}

# Functions of a section that are so many times as large as the section: hashing them would take the
# square of the file. One that has several names counts once; several entries into one function, and
# parts of functions that several share, are far from this many.
_OVERLAP = 8


@dataclass(frozen=True)
class Code:
    """One function: the name of its symbol, how many bytes it has, and a hash of them."""

    symbol: bytes
    size: int
    digest: bytes


def functions(path: os.PathLike | str) -> Iterator[Code]:
    """The functions of an object, an archive or a linked file, as far as their code can be compared
    at all."""
    with files.open_input(path, _OBJECTS) as stream:
        is_archive = stream.read(len(archive.MAGIC)) in (archive.MAGIC, archive.THIN_MAGIC)
    if not is_archive:
        yield from _functions(OnDisk(path, _OBJECTS))
        return
    for name, data in archive.members(path):
        if data.startswith(b"\x7fELF"):
            yield from _functions(InMemory(name, data))


def _functions(source: Source) -> Iterator[Code]:
    with source.stream() as stream:
        yield from _functions_of(Contents(source.path, stream, _OBJECTS), source)


def _functions_of(contents: Contents, source: Source) -> Iterator[Code]:
    symbols = find_symbols(contents, source, SHT_SYMTAB)
    machine = contents.checked(lambda: str(contents.headers.header["e_machine"]))
    linked = contents.checked(lambda: contents.headers.header["e_type"]) in ("ET_EXEC", "ET_DYN")
    if symbols is None or machine not in _WIDTHS:
        return
    relocated = _relocated(contents)
    if (linked and not relocated) or _SHT_CREL in contents.sections["type"]:
        return
    has_code = contents.sections["flags"] & _CODE == _CODE
    # A symbol that is in no section has a number below 1.
    which = np.flatnonzero((symbols.type == STT_FUNC) & (symbols.section > 0) & (symbols.size > 0)
                           & has_code[np.maximum(symbols.section, 0)])
    which = which[np.argsort(symbols.section[which], kind="stable")]
    sections, starts = np.unique(symbols.section[which], return_index=True)
    _refuse_shared(contents, [each for section in sections.tolist()
                              for each in (section, *relocated.get(section, ()))])
    names = symbols.names.some(which)
    bounds = [*starts.tolist(), len(which)]
    for section, (first, last) in zip(sections.tolist(), pairwise(bounds), strict=True):
        code = _Section(contents, section, relocated.get(section, []), *_WIDTHS[machine], linked)
        rows = which[first:last]
        yield from code.functions(symbols.value[rows], symbols.size[rows], names[first:last])


def _refuse_shared(contents: Contents, sections: Iterable[int]) -> None:
    """Refuses sections that are in the same bytes, which may be read as often as there are
    headers."""
    total = sum(contents.place(section, "code, or its relocations,")[1] for section in sections)
    if total > contents.size:
        raise damaged(contents.path, f"sections of {total} bytes share bytes of a file of "
                      f"{contents.size} bytes")


def _relocated(contents: Contents) -> dict[int, list[int]]:
    """The sections that have relocations, with those where these are."""
    found: dict[int, list[int]] = {}
    for index, (kind, target) in enumerate(zip(contents.sections["type"].tolist(),
                                               contents.sections["info"].tolist(), strict=True)):
        if kind in (SHT_REL, SHT_RELA) and 0 < target < len(contents.sections):
            found.setdefault(target, []).append(index)
    return found


class _Section:
    """A section with code: its bytes without addresses, and where the addresses are."""

    def __init__(self, contents: Contents, index: int, tables: list[int], usual: int,
                 others: dict[int, int], linked: bool):
        data = contents.section(index, "a section with code")
        self._base = int(contents.sections["addr"][index]) if linked else 0
        self._bytes = np.frombuffer(data, np.uint8).copy()
        self._places = distinct(np.empty(0, np.int64), *(
            self._mask(contents, table, usual, others) for table in tables))

    def _mask(self, contents: Contents, table: int, usual: int,
              others: dict[int, int]) -> np.ndarray:
        fields = [("offset", contents.word), ("info", contents.word)]
        if contents.sections["type"][table] == SHT_RELA:
            fields.append(("addend", contents.word))
        rows = contents.table(table, np.dtype(fields), "relocations of code")
        kinds = (rows["info"] & (0xffffffff if contents.is_64 else 0xff)).astype(np.int64)
        places = rows["offset"].astype(np.uint64) - np.uint64(self._base)
        inside = places < len(self._bytes)
        kinds, places = kinds[inside], places[inside].astype(np.int64)
        widths = np.full(len(kinds), usual)
        for kind, width in others.items():
            widths[kinds == kind] = width
        for byte in range(8):
            masked = places[widths > byte] + byte
            self._bytes[masked[masked < len(self._bytes)]] = 0
        return places

    def functions(self, values: np.ndarray, sizes: np.ndarray,
                  names: Sequence[bytes]) -> Iterator[Code]:
        """Those of these that are in the section as a whole; none if they overlap too much."""
        firsts = values - np.uint64(self._base)
        whole = len(self._bytes)
        inside = np.flatnonzero((sizes <= whole) & (firsts <= whole - np.minimum(sizes, whole)))
        spans = list(zip(firsts[inside].tolist(), sizes[inside].tolist(), strict=True))
        if sum(size for _, size in set(spans)) > _OVERLAP * whole:
            return
        digests = {span: self._digest(*span) for span in set(spans)}
        for row, span in zip(inside.tolist(), spans, strict=True):
            yield Code(names[row], span[1], digests[span])

    def _digest(self, first: int, size: int) -> bytes:
        low, high = np.searchsorted(self._places, (first, first + size))
        digest = hashlib.blake2b(self._bytes[first:first + size].tobytes(), digest_size=16)
        digest.update((self._places[low:high] - first).astype("<u8").tobytes())
        return digest.digest()
