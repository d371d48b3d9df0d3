"""The bytes of an ELF file: its headers, and its sections as tables of equal entries.

pyelftools reads what is small and has many forms: the ELF header, the program headers, the notes.
This module reads the tables that grow with the program (section headers, symbols and relocations)
as numpy arrays: a large program has 200,000 symbols, and one Python object for each takes seconds.

Nothing in the file is trusted: every table must lie inside the file, every index inside its table.

Opening a file reads only its headers. Tables that grow with the program are read on demand, and the
file is opened again for them, so that any number of files can be in use.
"""

import functools
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import BinaryIO, TypeVar

from elftools.elf.elffile import ELFFile

from frontload.base import files
from frontload.base.arrays import np
from frontload.base.errors import BadData
from frontload.elf.constants import SHT_NOBITS

REMEDY = "give the program or shared library that the linker wrote"
damaged = functools.partial(BadData, note="it is damaged or incomplete: link it again")

Parsed = TypeVar("Parsed")


class Source:
    """Where the bytes of an ELF file are: in a file, which must not change between two reads, or in
    memory, such as a member of an archive."""

    def __init__(self, path: os.PathLike[str] | str, note: str = REMEDY,
                 data: bytes | None = None):
        self.path = os.fspath(path)  # for messages, if `data` is given
        self.note = note
        self._data = data
        self._seen: tuple[int, ...] | None = None

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """A stream of all bytes, the same each time."""
        if self._data is not None:
            yield io.BytesIO(self._data)
            return
        with files.open_input(self.path, self.note) as stream:
            found = os.fstat(stream.fileno())
            now = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
            if self._seen not in (None, now):
                raise BadData(self.path, "changed while it was read",
                              note="try again when the link is done")
            self._seen = now
            yield stream


class Contents:
    """An open ELF file. A section is known by its number, its place in `sections`.

    headers: pyelftools' object; use it in `checked`
    order, word, is_64: numpy's codes of the byte order and of an address; and the file's class
    """

    def __init__(self, path: str, stream: BinaryIO, note: str = REMEDY):
        self.path = path
        self._stream = stream
        self.size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        if stream.read(4) != b"\x7fELF":
            raise BadData(path, "not an ELF file", offset=0, note=note)
        stream.seek(0)
        self.headers = self.checked(lambda: ELFFile(stream))
        self.is_64 = self.headers.elfclass == 64
        self.order = "<" if self.headers.little_endian else ">"
        self.word = self.order + ("u8" if self.is_64 else "u4")

    def checked(self, parse: Callable[[], Parsed]) -> Parsed:
        """The result of `parse`, which uses pyelftools."""
        try:
            return parse()
        except Exception as problem:
            # On damaged files pyelftools raises many errors: its own, construct's, AssertionError,
            # UnicodeDecodeError, OverflowError, MemoryError.
            reason = str(problem) or type(problem).__name__
            raise damaged(self.path, f"not a readable ELF file: {reason}") from problem

    def _bytes(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > self.size:
            raise damaged(self.path, f"{what} of {size} bytes runs past the end of the file",
                          offset=offset)
        self._stream.seek(offset)
        data = self._stream.read(size)
        if len(data) < size:
            raise damaged(self.path, "shrank while it was read", offset=offset + len(data))
        return data

    def section(self, index: int, what: str) -> bytes:
        """The contents of a section; empty if it takes no bytes of the file."""
        if index >= len(self.sections):
            raise damaged(self.path, f"{what}: there is no section {index}")
        section = self.sections[index]
        if section["type"] == SHT_NOBITS:
            return b""
        return self._bytes(int(section["offset"]), int(section["size"]), what)

    def table(self, index: int, kind: np.dtype, what: str) -> np.ndarray:
        """The contents of a section as entries of a kind."""
        data = self.section(index, what)
        if len(data) % kind.itemsize:
            raise damaged(self.path, f"{what} of {len(data)} bytes is not a whole number of "
                          f"entries of {kind.itemsize} bytes",
                          offset=int(self.sections["offset"][index]))
        return np.frombuffer(data, kind)

    @cached_property
    def sections(self) -> np.ndarray:
        """The section headers."""
        half, word = self.order + "u4", self.word
        kind = np.dtype([("name", half), ("type", half), ("flags", word), ("addr", word),
                         ("offset", word), ("size", word), ("link", half), ("info", half),
                         ("align", word), ("entsize", word)])
        header = self.headers.header
        offset, count = header["e_shoff"], header["e_shnum"]
        if offset == 0:
            return np.empty(0, kind)
        if header["e_shentsize"] != kind.itemsize:
            raise damaged(self.path, f"section headers of {header['e_shentsize']} bytes, not of "
                          f"{kind.itemsize}", offset=offset)
        if count == 0:  # too many for this field: the size of section 0 is the count
            data = self._bytes(offset, kind.itemsize, "the first section header")
            count = int(np.frombuffer(data, kind)["size"][0])
        return np.frombuffer(self._bytes(offset, count * kind.itemsize, "section headers"), kind)
