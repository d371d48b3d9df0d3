"""Makes hot blocks of a SquashFS image quick to read: stores them, or compresses them for speed.

mksquashfs decides for whole files whether they are compressed, and compresses all for size. In the
format, each block has a bit for that, and is compressed by itself. We take an image of mksquashfs
whose inodes are not compressed (-noI), and replace its hot blocks. All else stays, but for the
places of blocks, which move:

    superblock  96 bytes (device/squashfs.py)
    data        blocks of files in their order, and blocks of fragments: the ends of many files
    tables      inodes, directories, fragments, and others, in pieces of 8 KiB with a head of two
                bytes; some have an index of 64-bit places

The image is one that we have just made, so what is unexpected in it is an error.
"""

import ctypes
import lzma
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from frontload.base.errors import BadData, Failure
from frontload.device import squashfs as form
from frontload.device.squashfs import FILE, PIECE, RAW_BLOCK, RAW_PIECE, Super
from frontload.image.hot import Hot

_PADDING = 4096
_NOTHING = (1 << 64) - 1
_ZSTD = "libzstd.so.1"
_PLACES = Super._fields[Super._fields.index("end"):]
_FOLDER = 1  # the type of an inode; of one with more fields, 8
# How zstd compresses for speed: its parameters by the numbers of zstd.h (compressionLevel,
# literalCompressionMode), and the share of a block's time that this saves. Blocks of Chromium of
# 128 KiB (median; libzstd 1.5.4) take 0.63 of the time of level 22, and 1.10 of its bytes.
# Without Huffman's code, a level of more matches saves most time for its bytes.
_QUICK_ZSTD = (100, 12), (1002, 2)
_QUICK_SAVES = 0.37


@dataclass
class Block:
    """A block of a file or of fragments. `entries`: where its size is written. `pieces`: where its
    contents come from: offset in the block, file, offset there, size."""

    size: int  # in the image
    raw: bool
    entries: list[tuple["_Table", int]] = field(default_factory=list)
    pieces: list[tuple[int, str, int, int]] = field(default_factory=list)
    share: float = 0.0  # of starts that touch it

    @property
    def contents(self) -> int:
        return max((at + size for at, _, _, size in self.pieces), default=self.size)


class Result(NamedTuple):
    blocks: int  # that a start touches
    bytes: int  # their contents
    raw: int  # of these: contents of blocks that are not compressed
    quick: int  # and of blocks that are compressed for speed


class _Replacement(NamedTuple):
    """For a block. `saves`: the share of the time that decompressing the block takes."""

    size: int
    saves: float
    pack: Callable[[bytes], bytes] | None  # None: not compressed


def speed_up(path: Path, folder: Path, hot: Mapping[str, Hot], most: int, output: BinaryIO
             ) -> Result:
    """Writes the image with quick hot blocks to `output`. It grows by at most `most` bytes."""
    with open(path, "rb") as stream:
        image = _Image(path, stream)
        for name, inode in image.files():
            image.add(name, inode, hot.get(name))
        touched = {begin: block for begin, block in image.blocks.items() if block.share}
        chosen = _choose(touched, folder, most, _quick_packer(image.super.compressor))
        image.write(output, folder, chosen)
    raw = [block for begin, block in touched.items()
           if block.raw or (begin in chosen and not chosen[begin].pack)]
    quick = [touched[begin] for begin, other in chosen.items() if other.pack]
    return Result(len(touched), *(sum(block.contents for block in blocks)
                                  for blocks in (touched.values(), raw, quick)))


def _choose(touched: Mapping[int, Block], folder: Path, most: int,
            pack: Callable[[bytes], bytes] | None) -> dict[int, _Replacement]:
    """The replacements that save most time for a byte of growth, by the places of their blocks.

    Decompression takes time for each byte of both sides. So a block that is compressed less saves
    more for a byte of growth, whatever the compressor.
    """
    steps = []  # time saved for a byte, place, what the block becomes
    for begin, block in touched.items():
        if block.raw:
            continue
        others = [_Replacement(block.contents, 1.0, None)]
        if pack:
            others.append(_Replacement(len(pack(_contents(block, folder))), _QUICK_SAVES, pack))
        saves, size = 0.0, block.size
        while rates := [(block.size * (other.saves - saves) / max(other.size - size, 1), other)
                        for other in others if other.saves > saves]:
            rate, other = max(rates, key=lambda step: step[0])
            steps.append((block.share * rate, begin, other))
            size, saves, _ = other
    chosen: dict[int, _Replacement] = {}
    for _, begin, other in sorted(steps, key=lambda step: (-step[0], step[1])):
        growth = other.size - (chosen[begin].size if begin in chosen else touched[begin].size)
        if growth <= most:
            most -= growth
            chosen[begin] = other
    return chosen


class _Table:
    """A table of pieces that are not compressed, as one text."""

    def __init__(self, image: "_Image", begin: int, end: int):
        self._begin, self.flat = begin - image.super.inode_table, bytearray()
        self.at: dict[int, int] = {}  # by the place of a piece in the table
        for at, piece in form.raw_pieces(image.path, image.tables, self._begin,
                                         end - image.super.inode_table):
            self.at[at - self._begin] = len(self.flat)
            self.flat += piece

    def write_to(self, tables: bytearray) -> None:
        """Puts the pieces back."""
        starts = [*self.at.values(), len(self.flat)]
        for place, begin, end in zip(self.at, starts, starts[1:], strict=False):
            at = self._begin + place + 2
            tables[at:at + end - begin] = self.flat[begin:end]


class _Image:
    """`tables`: all behind the data, from the inode table on. `blocks`: by their place."""

    def __init__(self, path: Path, stream: BinaryIO):
        self.path, self._stream = path, stream
        self.super = form.read_super(path)
        first = self.super.inode_table
        stream.seek(first)
        self.tables = bytearray(stream.read(self.super.end - first))
        self._places: list[int] = []  # in `tables`, of 64-bit places in the image
        firsts = {begin: self._index(begin, -(-count * size // PIECE)) for begin, count, size in (
            (self.super.fragment_table, self.super.fragments, 16),
            (self.super.export_table, self.super.inodes, 8),
            (self.super.owner_table, self.super.owners, 4)) if begin != _NOTHING and count}
        self.inodes = _Table(self, first, self.super.folder_table)
        self.folders = _Table(self, self.super.folder_table, min(firsts.values()))
        if self.super.attribute_table != _NOTHING:  # a place, a number, and the index
            count, = struct.unpack_from("<I", self.tables, self.super.attribute_table - first + 8)
            self._index(self.super.attribute_table, 1)
            self._index(self.super.attribute_table + 16, -(-count * 16 // PIECE))
        self.fragments = self._unpack(firsts.get(self.super.fragment_table))
        self.blocks: dict[int, Block] = {}
        self._starts: list[tuple[_Table, int, str, int]] = []  # where it is written, as what, it
        for at in range(0, 16 * self.super.fragments, 16):
            begin, size = struct.unpack_from("<QI", self.fragments.flat, at)
            self._block(begin, size, self.fragments, at + 8)
            self._starts.append((self.fragments, at, "<Q", begin))

    def bad(self, what: str) -> BadData:
        return BadData(self.path, f"not an image that mksquashfs has made for us: {what}",
                       note="use Debian's mksquashfs, or report this")

    def _index(self, begin: int, count: int) -> int:
        """Notes the places in an index; returns the first."""
        at = begin - self.super.inode_table
        self._places += range(at, at + 8 * count, 8)
        place, = struct.unpack_from("<Q", self.tables, at) if count else (0,)
        return int(place)

    def _unpack(self, first: int | None) -> _Table:
        """The table of fragments, which is not compressed any more; `first`: its first piece."""
        if first is None:
            return _Table(self, 0, 0)
        at, base = first - self.super.inode_table, self.super.inode_table
        end = self.super.fragment_table - base
        unpack = _decompressor(form.COMPRESSORS[self.super.compressor - 1])
        pieces: list[bytes] = []
        begins = []
        while at < end:
            head, = struct.unpack_from("<H", self.tables, at)
            piece = bytes(self.tables[at + 2:at + 2 + head % RAW_PIECE])
            at += 2 + head % RAW_PIECE
            piece = piece if head & RAW_PIECE else unpack(piece)
            begins.append(first + sum(map(len, pieces)))
            pieces.append(struct.pack("<H", len(piece) | RAW_PIECE) + piece)
        if at != end:
            raise self.bad("a table is cut")
        at = first - base
        growth = sum(map(len, pieces)) - (end - at)
        self._move(first, growth)
        self.tables[at:end] = b"".join(pieces)
        self._places = [place + growth if place > at else place for place in self._places]
        struct.pack_into(f"<{len(begins)}Q", self.tables, self.super.fragment_table - base, *begins)
        return _Table(self, first, self.super.fragment_table)

    def _move(self, behind: int, growth: int) -> None:
        """Moves all tables behind a place, as far as others have their places."""
        self.super = self.super._replace(**{
            name: getattr(self.super, name) + growth for name in _PLACES
            if behind < getattr(self.super, name) < _NOTHING})
        for at in self._places:
            place, = struct.unpack_from("<Q", self.tables, at)
            struct.pack_into("<Q", self.tables, at, place + growth * (place > behind))

    def _block(self, begin: int, size: int, table: _Table, at: int) -> Block:
        block = self.blocks.setdefault(begin, Block(size & ~RAW_BLOCK, bool(size & RAW_BLOCK)))
        if block.size != size & ~RAW_BLOCK:
            raise self.bad("files share half a block")
        block.entries.append((table, at))
        return block

    def files(self) -> Iterator[tuple[str, int]]:
        """The path of each file, and its inode's place in the table; hard links are several."""
        waiting = [("", self.inodes.at[self.super.root >> 16] + (self.super.root & 0xFFFF))]
        while waiting:
            folder, inode = waiting.pop()
            kind, = struct.unpack_from("<H", self.inodes.flat, inode)
            if kind == _FOLDER:
                piece, size, at = struct.unpack_from("<I4x2H", self.inodes.flat, inode + 16)
            else:
                size, piece, at = struct.unpack_from("<2I6xH", self.inodes.flat, inode + 20)
            at += self.folders.at.get(piece, 0)  # an empty one may be at the table's end
            end = at + size - 3  # . and .. are counted
            while at < end:
                count, piece = struct.unpack_from("<2I", self.folders.flat, at)
                at += 12
                for _ in range(count + 1):
                    offset, kind, length = struct.unpack_from("<H2x2H", self.folders.flat, at)
                    name = os.fsdecode(bytes(self.folders.flat[at + 8:at + 9 + length]))
                    at += 9 + length
                    found = os.path.join(folder, name), self.inodes.at[piece] + offset
                    if kind == _FOLDER:
                        waiting.append(found)
                    elif kind == FILE:
                        yield found

    def add(self, name: str, inode: int, hot: Hot | None) -> None:
        """Notes the blocks of a file."""
        file = form.read_file(self.inodes.flat, inode, self.super.block)
        if file.blocks:
            self._starts.append((self.inodes, inode + 16, file.written, file.place))
        for begin, end, place, size, entry in file.blocks:
            self._piece(self._block(place, size, self.inodes, entry), 0, name, begin, end - begin,
                        hot)
        if file.fragment is not None:
            place, = struct.unpack_from("<Q", self.fragments.flat, 16 * file.fragment)
            tail = file.size % self.super.block
            self._piece(self.blocks[place], file.tail, name, file.size - tail, tail, hot)

    @staticmethod
    def _piece(block: Block, at: int, name: str, offset: int, size: int, hot: Hot | None) -> None:
        block.pieces.append((at, name, offset, size))
        if hot:
            block.share = max(block.share, hot.share(offset, offset + size))

    def write(self, output: BinaryIO, folder: Path, replaced: Mapping[int, _Replacement]) -> None:
        """Writes the image with these blocks replaced."""
        begins = sorted(self.blocks)
        places = {}  # where blocks are now
        growth, end = 0, 0
        for begin in begins:
            if begin < end:
                raise self.bad("files share half a block")
            block = self.blocks[begin]
            end = begin + block.size
            places[begin] = begin + growth
            if new := replaced.get(begin):
                growth += new.size - block.size
                for table, at in block.entries:
                    struct.pack_into("<I", table.flat, at, new.size | RAW_BLOCK * (not new.pack))
        for table, at, written, begin in self._starts:
            try:
                struct.pack_into(written, table.flat, at, places[begin])
            except struct.error as problem:
                raise Failure(f"{self.path}: more than 4 GiB, of which mksquashfs did not know",
                              note="choose a smaller --growth") from problem
        for table in (self.inodes, self.fragments):
            table.write_to(self.tables)
        first = self.super.inode_table
        self._move(0, growth)
        output.write(self.super.pack())
        end = len(self.super.pack())
        for begin in begins:
            self._copy(output, end, begin)
            end = begin + self.blocks[begin].size
            if new := replaced.get(begin):
                contents = _contents(self.blocks[begin], folder)
                output.write(new.pack(contents) if new.pack else contents)
            else:
                self._copy(output, begin, end)
        self._copy(output, end, first)
        output.write(self.tables)
        output.write(bytes(-self.super.end % _PADDING))

    def _copy(self, output: BinaryIO, begin: int, end: int) -> None:
        self._stream.seek(begin)
        output.write(self._stream.read(end - begin))


def _contents(block: Block, folder: Path) -> bytes:
    found = bytearray(block.contents)
    for at, name, offset, size in block.pieces:
        with open(folder / name, "rb") as stream:
            stream.seek(offset)
            piece = stream.read(size)
        if len(piece) < size:
            raise Failure(f"{folder / name}: has changed while its image was made",
                          note="let nothing write there meanwhile")
        found[at:at + size] = piece
    return bytes(found)


def _load(library: str, *functions: str) -> ctypes.CDLL:
    """One of mksquashfs's libraries, which has these functions."""
    try:
        found = ctypes.CDLL(library)
        for function in functions:
            getattr(found, function)
    except (OSError, AttributeError) as problem:
        raise Failure(f"{library}: {problem}", note="choose another --compressor") from problem
    return found


def _quick_packer(compressor: int) -> Callable[[bytes], bytes] | None:
    """Compresses a block for speed; None if the compressor cannot. The same contents always give
    the same bytes."""
    if form.COMPRESSORS[compressor - 1] != "zstd":
        return None
    sizes = "ZSTD_CCtx_setParameter", "ZSTD_compressBound", "ZSTD_compress2"
    library = _load(_ZSTD, "ZSTD_createCCtx", "ZSTD_isError", *sizes)
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    for function in sizes:
        getattr(library, function).restype = ctypes.c_size_t
    context = ctypes.c_void_p(library.ZSTD_createCCtx())
    if any(library.ZSTD_isError(ctypes.c_size_t(library.ZSTD_CCtx_setParameter(context, *each)))
           for each in _QUICK_ZSTD):
        return None

    def pack(contents: bytes) -> bytes:
        most = library.ZSTD_compressBound(ctypes.c_size_t(len(contents)))
        to = ctypes.create_string_buffer(most)
        size = library.ZSTD_compress2(context, to, ctypes.c_size_t(most), contents,
                                      ctypes.c_size_t(len(contents)))
        if size > most:  # an error, as of no memory
            raise Failure(f"{_ZSTD}: cannot compress", note="choose another --compressor")
        return to.raw[:size]

    return pack


def _decompressor(name: str) -> Callable[[bytes], bytes]:
    """What unpacks a piece. Python has none for some; these are in libraries of mksquashfs."""
    if name in ("xz", "lzma"):
        return lzma.decompress
    if name == "gzip":
        return zlib.decompress
    library, function = {"zstd": (_ZSTD, "ZSTD_decompress"),
                         "lz4": ("liblz4.so.1", "LZ4_decompress_safe"),
                         "lzo": ("liblzo2.so.2", "lzo1x_decompress_safe")}[name]
    call = _load(library, function)[function]

    def unpack(piece: bytes) -> bytes:
        to, size = ctypes.create_string_buffer(PIECE), ctypes.c_size_t(PIECE)
        given = ctypes.c_size_t(len(piece))
        if name == "zstd":
            call.restype = ctypes.c_size_t
            size.value = call(to, size, piece, given)
        elif name == "lz4":
            size.value = call(piece, to, len(piece), PIECE)
        elif call(piece, given, to, ctypes.byref(size), None):
            size.value = 0
        if not 0 < size.value <= PIECE:
            raise Failure(f"{library}: cannot unpack what mksquashfs packed",
                          note="choose another --compressor")
        return to.raw[:size.value]

    return unpack
