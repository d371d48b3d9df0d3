"""bench/picture: the reads of cold starts from their files, as a picture of a result's JSON.

A strip is a file from its first byte to its last; read bytes are dark. Of bench/race, each variant
has a strip. Of bench/start, each way to start has a strip for each of the files with the most
reads; the other files are summed up below.

The pictures have no background of their own, and their text is a gray that is legible on white and
on black, because pages of both themes show them.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import canvas
from canvas import matplotlib, pyplot
from frontload.base import errors
from frontload.base.files import write_if_changed
from frontload.pagecache.residency import Residency

from coldbench import command
from coldbench.show import columns, document, page

TEXT, READ, UNREAD = "#7a828c", "#0b4f9c", "#dde3ea"
MIN_WIDTH = 1 / 1500  # of a strip: narrower reads would not be seen
MAX_FILES = 8
WIDTH_INCHES, VARIANT_INCHES, WAY_INCHES = 9.0, 0.62, 0.16
_STYLE = {"svg.hashsalt": "frontload", "svg.fonttype": "none", "text.color": TEXT,
          "axes.labelcolor": TEXT, "axes.edgecolor": TEXT, "axes.titlecolor": TEXT,
          "xtick.color": TEXT, "ytick.color": TEXT, "font.family": "sans-serif", "font.size": 10}


def strip(axes, place: tuple[float, float], read: Residency, end: float, page: float,
           least: float) -> None:
    """One file at a place (top and height), with its end, a page and the narrowest read on the
    axis."""
    axes.broken_barh([(0, end)], place, facecolor=UNREAD, linewidth=0)
    axes.broken_barh([(first * page, max(count * page, least))
                      for first, count in read.runs()], place, facecolor=READ,
                     linewidth=0)


def _save(figure: pyplot.Figure, axes, title: str) -> bytes:
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    return canvas.save(figure, title, dpi="figure", transparent=True,
                       bbox_inches="tight")


def draw_variants(workload: dict) -> bytes:
    """The variants of a result of bench/race; the same result gives the same bytes."""
    drawn = workload["variants"]
    end = max(variant["size"] for variant in drawn)
    with matplotlib.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=(WIDTH_INCHES, 0.9 + VARIANT_INCHES * len(drawn)))
        for row, variant in enumerate(drawn):
            size, cold = variant["size"], variant["cold"]
            strip(axes, (row - 0.3, 0.6), Residency.from_text(size, variant["read_pages"]), size,
                   variant["page_size"], end * MIN_WIDTH)
            axes.text(-0.012 * end, row, page.short(variant).replace("*", "").replace(", ", ",\n"),
                      ha="right", va="center", weight="bold")
            axes.text(1.012 * end, row, f"{columns.count(cold['major_faults']['median'])} faults, "
                      f"{cold['read_bytes']['median'] / 1e6:.1f} MB", ha="left", va="center")
        axes.set_xlim(0, end)
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        axes.xaxis.set_major_formatter(lambda value, position: f"{value / 1e6:.0f}")
        axes.xaxis.set_major_locator(matplotlib.ticker.MultipleLocator(_step(end)))
        axes.set_xlabel("offset in the file, MB; dark is what a cold start has read")
        return _save(figure, axes, f"What cold starts of {workload['name']} have read from their "
                     "files")


def _step(end: float) -> float:
    """Round megabytes that give 4 to 10 ticks."""
    step = 10 ** (len(str(int(end))) - 1)
    while end / step < 4:
        step /= 2
    return step


def files(read: dict[str, dict], ways: Sequence[str]) -> list[tuple[str, list[Residency | None]]]:
    """Each way's reads of each file, files by the first way's reads. Variants of a file have the
    same name, in other folders."""
    found: dict[str, list[Residency | None]] = {}
    for number, way in enumerate(ways):
        for path, file in read[way].items():
            row = found.setdefault(os.path.basename(path), [None] * len(ways))
            row[number] = Residency.from_text(file["size"], file["pages"])
    return sorted(found.items(), key=lambda item: (-_bytes(item[1][0]), item[0]))


def _bytes(read: Residency | None) -> int:
    return 0 if read is None else read.resident_bytes


def draw_ways(read: dict[str, dict], ways: Sequence[str]) -> bytes:
    """These ways of a result of bench/start; the same result gives the same bytes."""
    found = files(read, ways)
    shown, others = found[:MAX_FILES], found[MAX_FILES:]
    step = 1 + 0.8 / len(ways)
    height = 0.8 / len(ways) / step
    with matplotlib.rc_context(_STYLE):
        figure, axes = pyplot.subplots(
            figsize=(WIDTH_INCHES, WAY_INCHES * len(ways) * step * (len(shown) + 1)))

        def caption(middle: float, total: int, way: str) -> None:
            axes.text(1.012, middle, f"{total / 1e6:.1f} MB  {way}", ha="left", va="center",
                      size=7)

        for row, (name, strips) in enumerate(shown):
            size = next(each.size for each in strips if each)
            axes.text(-0.012, row + 0.5, f"{name}\n{size / 1e6:.1f} MB", ha="right", va="center",
                      size=8)
            for number, each in enumerate(strips):
                if each:
                    top = row + (number + 0.1) / len(ways) / step
                    strip(axes, (top, height), each, 1, 1 / len(each.pages), MIN_WIDTH)
                    caption(top + height / 2, each.resident_bytes, ways[number])
        for number, way in enumerate(ways):
            caption(len(shown) + (number + 0.5) / len(ways) / step,
                    sum(_bytes(strips[number]) for _, strips in others), way)
        axes.text(-0.012, len(shown) + 0.5, f"{len(others)} other files", ha="right", va="center",
                  size=8)
        axes.set_xlim(0, 1)
        axes.set_ylim(len(shown) + 1, 0)
        axes.set_xticks([])
        axes.set_xlabel("each file from its first byte to its last; dark is what was read")
        return _save(figure, axes, "What each way of a cold start has read of its files")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/picture", description="Draw which parts of each "
                                     "variant's file a cold start has read.")
    parser.add_argument("result", metavar="RESULT.json", type=Path,
                        help="what bench/race wrote of one workload, or bench/start")
    parser.add_argument("-o", "--output", metavar="FILE.svg", type=Path, required=True)
    parser.add_argument("--device", metavar="KIND", help="of a result of bench/start: which device "
                        "(default: the first)")
    parser.add_argument("--ways", metavar="NAME;...", help="and which ways to start (default: all)")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    result = document.read(args.result, race=document.RACE, start=document.START)
    if result["schema"] == document.START:
        device = command.choose("--device", args.device or next(iter(result["read"])),
                                tuple(result["read"]), "device of this result")[0]
        read = result["read"][device]
        ways = tuple(args.ways.split(";")) if args.ways else tuple(read)
        if unknown := [way for way in ways if way not in read]:
            raise errors.Failure(f"--ways: {unknown[0]}: no such way",
                                 note=f"there are: {'; '.join(read)}")
        drawn = draw_ways(read, ways)
    else:
        (workload,) = result["workloads"]
        drawn = draw_variants(workload)
    write_if_changed(args.output, drawn)
    return errors.EXIT_OK
