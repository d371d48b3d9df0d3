"""Reads SquashFS images: the superblock, tables that are not compressed, and the blocks of files.
https://dr-emann.github.io/squashfs describes the format."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from frontload.base.errors import BadData

MAGIC = b"hsqs"
COMPRESSORS = ("gzip", "lzma", "lzo", "xz", "lz4", "zstd")  # their numbers begin with 1
_SUPER = struct.Struct("<4s4I6H8Q")
_NOTE = "give an AppImage of type 2, whose image is SquashFS 4"
FILE = 2  # the type of an inode; of one with more fields, 9
RAW_BLOCK = 1 << 24  # the bit of a block that is not compressed, beside its size
RAW_PIECE, PIECE = 1 << 15, 8192  # the same of a piece of a table, and the most it holds
_NO_FRAGMENT = (1 << 32) - 1


class Super(NamedTuple):
    magic: bytes
    inodes: int
    made: int
    block: int
    fragments: int
    compressor: int
    block_log: int
    flags: int
    owners: int
    major: int
    minor: int
    root: int
    end: int
    owner_table: int
    attribute_table: int
    inode_table: int
    folder_table: int
    fragment_table: int
    export_table: int

    def pack(self) -> bytes:
        return _SUPER.pack(*self)


def read_super(path: Path, offset: int = 0) -> Super:
    """The superblock of the image at this offset."""
    with open(path, "rb") as stream:
        stream.seek(offset)
        data = stream.read(_SUPER.size)
    if len(data) < _SUPER.size or not data.startswith(MAGIC):
        raise BadData(path, "has no SquashFS image", offset=offset, note=_NOTE)
    found = Super(*_SUPER.unpack(data))
    if found.major != 4 or not 0 < found.compressor <= len(COMPRESSORS):
        raise BadData(path, "is SquashFS of another version", offset=offset, note=_NOTE)
    return found


def raw_pieces(path: Path, tables: bytearray, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The place of each piece of a table, and what it holds."""
    while begin < end:
        head, = struct.unpack_from("<H", tables, begin)
        if not RAW_PIECE < head <= RAW_PIECE + PIECE:
            raise BadData(path, "a table is compressed", note="use Debian's mksquashfs")
        yield begin, bytes(tables[begin + 2:begin + 2 + head - RAW_PIECE])
        begin += 2 + head - RAW_PIECE


class File(NamedTuple):
    """`blocks`: begin and end in the file, place and size in the image, the size with RAW_BLOCK,
    and where it is written; holes have none. The end may be at `tail` in a block of fragments."""

    place: int  # of the first block, at byte 16 of the inode
    written: str  # as this
    size: int
    fragment: int | None
    tail: int
    blocks: list[tuple[int, int, int, int, int]]


def read_file(inodes: bytearray, at: int, block: int) -> File:
    """The file of an inode in an image with blocks of this size."""
    kind, = struct.unpack_from("<H", inodes, at)
    if kind == FILE:  # of less than 4 GB
        place, fragment, tail, size = struct.unpack_from("<4I", inodes, at + 16)
    else:
        place, size, fragment, tail = struct.unpack_from("<2Q12x2I", inodes, at + 16)
    found = File(place, "<I" if kind == FILE else "<Q", size,
                 None if fragment == _NO_FRAGMENT else fragment, tail, [])
    end = size if found.fragment is None else size // block * block
    entry = at + (32 if kind == FILE else 56)
    for number, held in enumerate(struct.unpack_from(f"<{-(-end // block)}I", inodes, entry)):
        if held:
            found.blocks.append((number * block, min((number + 1) * block, end), place, held,
                                 entry + 4 * number))
        place += held & ~RAW_BLOCK
    return found
