"""Images that are decompressed block by block, or fetched chunk by chunk, as their files are read.

squashfs:xz:1M names one: a format, a compressor, and the size of its blocks. This module makes the
image with the packaged tools, and finds the blocks of a file in it, for frontload-predict.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.processes import check_call
from frontload.base.scratch import scratch_folder
from frontload.device.squashfs import RAW_BLOCK, raw_pieces, read_file, read_super

SQUASHFS, SQUASHFUSE, EROFS, BTRFS, CHUNKS = "squashfs", "squashfuse", "erofs", "btrfs", "chunks"
_KIB, _MIB = 1 << 10, 1 << 20
_PAGE = 4 * _KIB
_OF_SQUASHFS = "gzip", "xz", "zstd", "lzo", "lz4"


@dataclass(frozen=True)
class _Format:
    compressors: tuple[str, ...]  # the first is what the tool chooses; "": none
    block: int  # as the tool chooses it
    smallest: int
    largest: int
    tools: tuple[str, ...]


# A pcluster of EROFS has this size in the image, a block of the others in the file.
_FORMATS = {
    SQUASHFS: _Format(_OF_SQUASHFS, 128 * _KIB, _PAGE, _MIB, ("mksquashfs",)),
    SQUASHFUSE: _Format(_OF_SQUASHFS, 128 * _KIB, _PAGE, _MIB,
                        ("mksquashfs", "squashfuse", "mkfs.ext4")),
    EROFS: _Format(("", "lz4", "lz4hc", "lzma", "deflate", "zstd"), _PAGE, _PAGE, _MIB,
                   ("mkfs.erofs",)),
    # BTRFS_MAX_COMPRESSED of fs/btrfs/compression.h. For predictions, mksquashfs compresses.
    BTRFS: _Format(("zstd",), 128 * _KIB, 128 * _KIB, 128 * _KIB, ("mkfs.btrfs", "mksquashfs")),
    CHUNKS: _Format(("",), 4 * _MIB, _PAGE, 64 * _MIB, ()),
}
_SUFFIXES = {"": 1, "k": _KIB, "m": _MIB}

# MB in a second that go into a decompressor of Linux 6.18, and that come out: the time of both
# together, with that of the requests, is what a start takes (docs/predict.md has the machine).
# EROFS's lzma and deflate are taken for the same algorithms of SquashFS.
_RATES = {"xz": (20, 346), "gzip": (104, 5470), "zstd": (2100, 1110), "lzo": (1e6, 1600),
          "lz4": (1e6, 4000), "": (1e12, 1e12)}
_SAME = {"lzma": "xz", "deflate": "gzip", "lz4hc": "lz4"}


@dataclass(frozen=True)
class Image:
    name: str
    format: str
    compressor: str  # "": nothing is compressed
    block: int

    def obstacle(self) -> str | None:
        """Why the tools here cannot make it; None if they can."""
        for tool in _FORMATS[self.format].tools:
            if shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
                return f"an image of {self.format} needs the program {tool}"
        if self.format == EROFS and self.compressor:
            said = subprocess.run(["mkfs.erofs", "--help"], stdin=subprocess.DEVNULL,
                                  capture_output=True, encoding="utf-8", errors="replace")
            if not re.search(rf"\b{self.compressor}\b", said.stdout + said.stderr):
                return f"this mkfs.erofs has no {self.compressor}"
        return None

    def make(self, contents: Path, image: Path, *more: str | Path, shares: bool = False,
             environment: Mapping[str, str] | None = None) -> None:
        """Makes an image of SquashFS or EROFS of a folder, or of SquashFS of one file, with more
        options of its tool. `shares`: files smaller than a block share one with others."""
        if self.format != EROFS:
            alone = [] if shares else ["-no-fragments"]
            check_call(["mksquashfs", contents, image, "-comp", self.compressor, "-b",
                        str(self.block), "-noappend", "-quiet", "-no-progress", *alone, *more],
                       environment=environment)
        else:
            how = [f"-z{self.compressor}", f"-C{self.block}"] if self.compressor else []
            check_call(["mkfs.erofs", "--quiet", *how, *more, image, contents],
                       environment=environment)


def parse(name: str) -> Image | None:
    """The image of such a name; None if it is none."""
    kind, *rest = name.lower().split(":")
    form = _FORMATS.get(kind)
    if form is None:
        return None
    block = form.block
    if rest and (match := re.fullmatch(r"(\d{1,9})([km]?)", rest[-1])):
        block = int(match[1]) * _SUFFIXES[match[2]]
        rest.pop()
    compressor = rest.pop(0) if rest else form.compressors[0]
    if rest or compressor not in form.compressors or block & (block - 1) \
            or not form.smallest <= block <= form.largest:
        return None
    return Image(name, kind, compressor, block)


def block_in_files(name: str) -> int | None:
    """The size of an image's blocks in its files; None if each has its own, as in EROFS."""
    held = parse(name)
    return held.block if held and held.format != EROFS else None


def syntax() -> str:
    """Which names there are, for people."""
    return "squashfs:xz:1M, erofs:lz4hc:64K, btrfs:zstd, squashfuse:zstd:128K or chunks:4M"


@contextmanager
def blocks_file(image: Image, file: str, rate: float | None) -> Iterator[Path]:
    """Within `with`, a file for frontload-predict --blocks, with the blocks of a file in an image
    that has nothing else. `rate`: bytes that come out of the decompressor in a second."""
    obstacle = None
    if image.format == SQUASHFUSE:
        obstacle = "its own cache is not modeled: it can only be measured"
    elif image.format != CHUNKS:
        obstacle = image.obstacle() if image.compressor else "nothing is compressed there"
    if obstacle:
        raise Failure(f"--device {image.name}: {obstacle}", note="choose another image")
    with scratch_folder("frontload-image.") as folder:
        form = image.format
        if form == EROFS and not image.compressor.startswith("lz4"):
            form = "erofs-whole"
        document = {"schema": "frontload-blocks/1", "format": form,
                    "seconds_per_byte": [0, 1 / rate] if rate else [
                        1e-6 / each for each in _RATES[_SAME.get(image.compressor,
                                                                 image.compressor)]],
                    "blocks": [list(block) for block in _blocks(image, file, folder)]}
        path = folder / "blocks.json"
        path.write_text(json.dumps(document), "utf-8")
        yield path


def _blocks(image: Image, file: str, folder: Path) -> Iterator[tuple[int, int, int, int]]:
    """Of each block: where it begins and ends in the file, where it is in the image, and its bytes
    there."""
    size = os.path.getsize(file)
    if image.format == CHUNKS:
        for begin in range(0, size, image.block):
            end = min(begin + image.block, size)
            yield begin, end, begin, end - begin
    elif image.format == EROFS:
        yield from _erofs_blocks(image, file, folder)
    else:
        yield from _squashfs_blocks(image, file, folder)


def _erofs_blocks(image: Image, file: str, folder: Path) -> Iterator[tuple[int, int, int, int]]:
    contents = folder / "contents"
    contents.mkdir()
    shutil.copyfile(file, contents / "file")
    image.make(contents, folder / "image")
    listed = subprocess.run(["dump.erofs", "--path=/file", "-e", folder / "image"], check=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8")
    number = r"\s*(\d+)"
    for match in re.finditer(rf"^{number}:{number}\.\.{number} \|{number} :{number}\.\.{number} \|"
                             rf"{number}$", listed.stdout, re.MULTILINE):
        begin, end, _, place, _, held = map(int, match.groups()[1:])
        yield begin, end, place, held


def _squashfs_blocks(image: Image, file: str, folder: Path
                     ) -> Iterator[tuple[int, int, int, int]]:
    """btrfs compresses each block to whole pages, by default at zstd's level 3."""
    level = ("-no-sparse", "-Xcompression-level", "3") if image.format == BTRFS else ()
    made = folder / "image"
    image.make(Path(file), made, "-noI", "-no-xattrs", *level)
    found, tables = read_super(made), bytearray(made.read_bytes())
    inodes = bytearray().join(piece for _, piece in raw_pieces(made, tables, found.inode_table,
                                                               found.folder_table))
    at = 0
    for begin, end, place, held, _ in read_file(inodes, 0, image.block).blocks:
        held &= ~RAW_BLOCK
        if image.format == BTRFS:
            place, held = at, -(-held // _PAGE) * _PAGE
        yield begin, end, place, held
        at += held
