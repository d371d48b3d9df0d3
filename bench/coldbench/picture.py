"""bench/picture: the reads of each variant's cold start, as a picture of a result's JSON.

One strip for each variant is its file from the first byte to the last; read bytes are dark.
"""

import argparse
from pathlib import Path

from frontload.base import errors
from frontload.base.files import write_if_changed
from frontload.pagecache.residency import Residency

from coldbench import command, start_picture
from coldbench.show import columns, document, svg
from coldbench.show.svg import matplotlib, pyplot

STRIP_INCHES = 0.62
WIDTH_INCHES = 9.0


def strips(workload: dict) -> list[dict]:
    """For each variant its name, size, reads as (start, length) in bytes, and a caption."""
    found = []
    for variant in workload["variants"]:
        runs = Residency.from_text(variant["size"], variant["read_pages"]).runs()
        page = variant["page_size"]
        cold = variant["cold"]
        found.append({
            "name": variant["name"],
            "size": variant["size"],
            "read": [(first * page, count * page) for first, count in runs.tolist()],
            "caption": f"{columns.count(cold['major_faults']['median'])} faults, "
                       f"{cold['read_bytes']['median'] / 1e6:.1f} MB",
        })
    return found


def draw(workload: dict) -> bytes:
    """The picture as SVG; the same result gives the same bytes."""
    drawn = strips(workload)
    end = max(strip["size"] for strip in drawn)
    with svg.style():
        figure, axes = pyplot.subplots(figsize=(WIDTH_INCHES, 0.9 + STRIP_INCHES * len(drawn)))
        for row, strip in enumerate(drawn):
            axes.broken_barh([(0, strip["size"])], (row - 0.3, 0.6), facecolor=svg.UNREAD,
                             linewidth=0)
            least = end * svg.MIN_WIDTH
            axes.broken_barh([(start, max(length, least)) for start, length in strip["read"]],
                             (row - 0.3, 0.6), facecolor=svg.READ, linewidth=0)
            axes.text(-0.012 * end, row, strip["name"], ha="right", va="center", weight="bold")
            axes.text(1.012 * end, row, strip["caption"], ha="left", va="center")
        axes.set_xlim(0, end)
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        axes.set_yticks([])
        axes.xaxis.set_major_formatter(lambda value, position: f"{value / 1e6:.0f}")
        axes.xaxis.set_major_locator(matplotlib.ticker.MultipleLocator(_step(end)))
        axes.set_xlabel("offset in the file, MB; dark is what a cold start has read")
        axes.spines[:].set_visible(False)
        return svg.save(figure, f"What cold starts of {workload['name']} have read from their "
                        "files")


def _step(end: float) -> float:
    """Round megabytes that give 4 to 10 ticks."""
    step = 10 ** (len(str(int(end))) - 1)
    while end / step < 4:
        step /= 2
    return step


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/picture", description="Draw which parts of each "
                                     "variant's file a cold start has read.")
    parser.add_argument("result", metavar="RESULT.json", type=Path,
                        help="what bench/run or bench/start wrote")
    parser.add_argument("-o", "--output", metavar="FILE.svg", type=Path, required=True)
    parser.add_argument("--device", metavar="KIND", help="of a result of bench/start: which device "
                        "(default: the first)")
    parser.add_argument("--ways", metavar="NAME;...", help="and which ways to start (default: all)")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    if document.schema(args.result) == document.START:
        result = document.read(args.result, document.START, "bench/start")
        device = command.choose("--device", args.device or next(iter(result["read"])),
                                tuple(result["read"]), "device of this result")[0]
        known = tuple(result["read"][device])
        ways = tuple(args.ways.split(";")) if args.ways else known
        if unknown := [way for way in ways if way not in known]:
            raise errors.Failure(f"--ways: {unknown[0]}: no such way",
                                 note=f"there are: {'; '.join(known)}")
        write_if_changed(args.output, start_picture.draw(result, device, ways))
        return errors.EXIT_OK
    (workload,) = document.read(args.result, document.RUN, "bench/run")["workloads"]
    write_if_changed(args.output, draw(workload))
    return errors.EXIT_OK
