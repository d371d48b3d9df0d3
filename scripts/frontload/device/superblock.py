"""The superblock of a SquashFS image: https://dr-emann.github.io/squashfs describes the format."""

import struct
from pathlib import Path
from typing import NamedTuple

from frontload.base.errors import BadData

MAGIC = b"hsqs"
COMPRESSORS = ("gzip", "lzma", "lzo", "xz", "lz4", "zstd")  # their numbers begin with 1
_SUPER = struct.Struct("<4s4I6H8Q")
_NOTE = "give an AppImage of type 2, whose image is SquashFS 4"


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
