"""Reads static libraries: the objects in an `ar` archive, thin or not.

This reader is our own: pyelftools does not read archives, the archive's own index lists no local
symbols, and llvm-nm and nm print one name a line, so a name with a newline would be read as two.

The format (of System V and GNU): 8 bytes of magic, then members, each a header of 60 bytes at an
even offset and the contents. `/` and `/SYM64/` are the index of symbols, `//` holds the names that
are too long for a header, which then says `/` and the offset in it. A thin archive does not contain
its members: their names are paths, relative to the archive's folder.
"""

import functools
import os
from collections.abc import Iterator

from frontload.base import files
from frontload.base.errors import BadData

MAGIC, THIN_MAGIC = b"!<arch>\n", b"!<thin>\n"
_HEADER_SIZE = 60
_INDEXES = (b"/", b"/SYM64/", b"__.SYMDEF", b"__.SYMDEF SORTED")
_damaged = functools.partial(BadData, note="it is damaged or incomplete: build it again")


def is_thin(path: os.PathLike[str] | str) -> bool:
    """Whether a file is an archive that only names its members."""
    with files.open_input(path) as stream:
        return stream.read(len(MAGIC)) == THIN_MAGIC


def members(path: os.PathLike[str] | str) -> Iterator[tuple[str, bytes]]:
    """The members of an archive, each as `archive(member)` for messages and its contents."""
    with files.open_input(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        thin = stream.read(len(MAGIC)) == THIN_MAGIC
        long_names = b""
        offset = len(MAGIC)
        while offset < size:
            stream.seek(offset)
            name, length = _parse_header(stream.read(_HEADER_SIZE), path, offset)
            offset += _HEADER_SIZE
            contained = not thin or name in _INDEXES or name == b"//"
            if contained and offset + length > size:
                raise _damaged(path, f"a member of {length} bytes runs past the end", offset=offset)
            if name == b"//":
                long_names = stream.read(length)
            elif name not in _INDEXES:
                if name.startswith(b"/"):
                    name = _long_name(name, long_names, path, offset)
                member = os.fsdecode(name.removesuffix(b"/"))
                yield (f"{os.fspath(path)}({member})",
                       stream.read(length) if contained else _outside(path, member))
            if contained:
                offset += length + length % 2


def _parse_header(header: bytes, path: os.PathLike[str] | str, offset: int) -> tuple[bytes, int]:
    length = header[48:58].strip()
    if len(header) < _HEADER_SIZE or header[58:60] != b"`\n" or not length.isdigit():
        raise _damaged(path, "a damaged member header in the archive", offset=offset)
    return header[:16].rstrip(b" "), int(length)


def _long_name(name: bytes, long_names: bytes, path: os.PathLike[str] | str, offset: int) -> bytes:
    where = name[1:]
    if not where.isdigit() or int(where) >= len(long_names):
        raise _damaged(path, "a member's name is not in the archive's table of names",
                       offset=offset)
    return long_names[int(where):].split(b"\n", 1)[0]


def _outside(path: os.PathLike[str] | str, member: str) -> bytes:
    with files.open_input(os.path.join(os.path.dirname(os.fspath(path)), member)) as stream:
        return stream.read()
