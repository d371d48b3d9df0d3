"""The reads of each way of a start from its files, as a picture of bench/start's JSON.

One strip for each way and file is the file from its first byte to its last; read bytes are dark.
The files with the most reads have strips; the others are summed up below.
"""

import os
from collections.abc import Sequence

from frontload.pagecache.residency import Residency

from coldbench.show import svg
from coldbench.show.svg import pyplot

MAX_FILES = 8
WIDTH_INCHES, STRIP_INCHES = 9.0, 0.16


def rows(read: dict[str, dict], ways: Sequence[str]) -> list[tuple[str, list[Residency | None]]]:
    """Each way's reads of each file, files by the first way's reads. Variants of a file have the
    same name, in other folders."""
    found: dict[str, list[Residency | None]] = {}
    for number, way in enumerate(ways):
        for path, file in read[way].items():
            row = found.setdefault(os.path.basename(path), [None] * len(ways))
            row[number] = Residency.from_text(file["size"], file["pages"])
    return sorted(found.items(), key=lambda item: (-_bytes(item[1][0]), item[0]))


def _bytes(residency: Residency | None) -> int:
    return 0 if residency is None else residency.resident_bytes


def draw(result: dict, device: str, ways: Sequence[str]) -> bytes:
    """The picture as SVG, of these ways; the same result gives the same bytes."""
    found = rows(result["read"][device], ways)
    shown, others = found[:MAX_FILES], found[MAX_FILES:]
    step = 1 + 0.8 / len(ways)
    with svg.style():
        figure, axes = pyplot.subplots(
            figsize=(WIDTH_INCHES, STRIP_INCHES * len(ways) * step * (len(shown) + 1)))
        for row, (name, strips) in enumerate(shown):
            size = max(strip.size for strip in strips if strip)
            axes.text(-0.012, row + 0.5, f"{name}\n{size / 1e6:.1f} MB", ha="right", va="center",
                      size=8)
            for number, strip in enumerate(strips):
                _strip(axes, row + (number + 0.1) / len(ways) / step, 0.8 / len(ways) / step,
                       strip, ways[number])
        for number, _ in enumerate(ways):
            total = sum(_bytes(strips[number]) for _, strips in others)
            axes.text(1.012, len(shown) + (number + 0.5) / len(ways) / step,
                      f"{total / 1e6:.1f} MB  {ways[number]}", ha="left", va="center", size=7)
        axes.text(-0.012, len(shown) + 0.5, f"{len(others)} other files", ha="right", va="center",
                  size=8)
        axes.set_xlim(0, 1)
        axes.set_ylim(len(shown) + 1, 0)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel("each file from its first byte to its last; dark is what was read")
        axes.spines[:].set_visible(False)
        return svg.save(figure, "What each way of a cold start has read of its files")


def _strip(axes, top: float, height: float, strip: Residency | None, way: str) -> None:
    if strip is None:
        return
    axes.broken_barh([(0, 1)], (top, height), facecolor=svg.UNREAD, linewidth=0)
    pages = len(strip.pages)
    axes.broken_barh([(first / pages, max(count / pages, svg.MIN_WIDTH))
                      for first, count in strip.runs().tolist()], (top, height), facecolor=svg.READ,
                     linewidth=0)
    axes.text(1.012, top + height / 2, f"{strip.resident_bytes / 1e6:.1f} MB  {way}", ha="left",
              va="center", size=7)
