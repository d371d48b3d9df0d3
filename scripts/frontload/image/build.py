"""Makes a compressed image of a folder, for a known start, with the programs of its file system."""

import os
import re
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypedDict

from frontload.base.scratch import scratch_folder
from frontload.device.image import SQUASHFS, Image
from frontload.image import squashfs
from frontload.image.hot import Hot
from frontload.reading.listing import PAGE

_FIRST, _LAST = 32767, 1  # priorities of mksquashfs; other files have 0
_SMALLEST = 4096  # bytes that EROFS can decompress by themselves
_MOSTLY = 0.5  # the share of its pages that are touched of a file that is stored
Made = TypedDict("Made", {
    "path": str, "bytes": int, "plain_bytes": int,  # with all blocks compressed
    "hot_files": int,
    "hot_blocks": int | None, "hot_bytes": int | None,  # that a start decompresses; EROFS: None
    "stored_bytes": int,  # of these: that are not compressed
    "quick_bytes": int})  # and that are compressed for speed


@dataclass(frozen=True)
class Wanted:
    """`growth`: percent of the plain image; `options`: more options of the image's program."""

    image: Image
    growth: float
    options: tuple[str, ...] = ()


def make(folder: Path, hot: Mapping[str, Hot], wanted: Wanted, output: Path,
         before: bytes = b"") -> Made:
    """Makes the image at `output`, behind the bytes `before`."""
    target = output.resolve()
    with scratch_folder(f".{target.name}.", target.parent) as scratch:
        made = scratch / "made"
        with open(made, "wb") as stream:
            stream.write(before)
            found = (_squashfs if wanted.image.format == SQUASHFS else _erofs)(
                folder, hot, wanted, scratch, stream)
        found["path"] = str(output)
        found["plain_bytes"] += len(before)
        os.chmod(made, target.stat().st_mode & 0o777 if target.exists() else 0o644)
        os.replace(made, target)
    return found


def _write(wanted: Wanted, folder: Path, image: Path, *options: str | Path) -> None:
    """Writes an image with a time that does not change from build to build."""
    newest = max(os.lstat(os.path.join(at, name)).st_mtime
                 for at, folders, names in os.walk(folder) for name in (".", *folders, *names))
    wanted.image.make(folder, image, *options, *wanted.options, shares=True,
                      environment={"SOURCE_DATE_EPOCH": str(int(newest)), **os.environ})


def _squashfs(folder: Path, hot: Mapping[str, Hot], wanted: Wanted, scratch: Path,
              stream: BinaryIO) -> Made:
    order, plain = scratch / "order", scratch / "plain"
    order.write_bytes(b"".join(
        # A line cannot have a line's end.
        re.sub(rb"([\s\"\\])", rb"\\\1", os.fsencode(folder / name)) + b" %d\n"
        % max(_FIRST - number, _LAST)
        for number, name in enumerate(hot) if "\n" not in name))
    _write(wanted, folder, plain, "-noI", "-sort", order)
    size = plain.stat().st_size
    found = squashfs.speed_up(plain, folder, hot, int(size * wanted.growth / 100), stream)
    return {"path": "", "bytes": stream.tell(), "plain_bytes": size, "hot_files": len(hot),
            "hot_blocks": found.blocks, "hot_bytes": found.bytes, "stored_bytes": found.raw,
            "quick_bytes": found.quick}


def _erofs(folder: Path, hot: Mapping[str, Hot], wanted: Wanted, scratch: Path,
           stream: BinaryIO) -> Made:
    """mkfs.erofs takes hints for whole files: a cluster's size, or 0 for a file that is stored. We
    store files that a start touches mostly, the most touched ones first. Of others, the smallest
    clusters are decompressed."""
    image, hints = scratch / "plain", scratch / "hints"
    same_name = f"-U{uuid.UUID(int=0)}"
    _write(wanted, folder, image, same_name)
    plain = image.stat().st_size
    most, stored = plain * wanted.growth / 100, 0
    lines = dict.fromkeys(hot, wanted.image.block)

    def touched(name: str) -> float:
        pages = -(-os.path.getsize(folder / name) // PAGE)
        return sum(hot[name].pages.values()) / max(pages, 1)

    for name in sorted(hot, key=lambda name: (-touched(name), name)):
        size = os.path.getsize(folder / name)
        if touched(name) >= _MOSTLY and size <= most:
            most -= size
            stored += size
            lines[name] = 0
    same: dict[tuple[int, int], int] = {}  # of hard links, mkfs.erofs looks up the first it meets
    for name, cluster in lines.items():
        status = os.stat(folder / name)
        same[status.st_dev, status.st_ino] = cluster
    for at, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(at, name))
            if (status.st_dev, status.st_ino) in same:
                lines[os.path.relpath(os.path.join(at, name), folder)] = same[
                    status.st_dev, status.st_ino]
    for least in (_SMALLEST, wanted.image.block):  # small clusters may cost more than the growth
        # An expression cannot have a space.
        hints.write_bytes(b"".join(
            b"%d ^%s$\n" % (min(cluster, least), re.sub(rb"[^A-Za-z0-9_/-]", b".",
                                                       os.fsencode(name)))
            for name, cluster in lines.items()))
        image.unlink()
        _write(wanted, folder, image, same_name, f"--compress-hints={hints}")
        if image.stat().st_size <= plain * (1 + wanted.growth / 100):
            break
    with open(image, "rb") as made:
        shutil.copyfileobj(made, stream)
    return {"path": "", "bytes": stream.tell(), "plain_bytes": plain, "hot_files": len(hot),
            "hot_blocks": None, "hot_bytes": None, "stored_bytes": stored, "quick_bytes": 0}
