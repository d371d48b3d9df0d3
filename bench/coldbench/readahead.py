"""bench/readahead: what cold starts read at different settings of the device's readahead.

How many faults a start takes, and how much they read, is decided by the layout and by the kernel's
readahead together: more of it means fewer faults and more that nobody wanted. One start of each
variant at each setting shows how the two trade, and what a layout leaves to trade. The counts
repeat, so that one start of each is enough.
"""

import argparse
import io
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from frontload import __version__
from frontload.base import errors
from frontload.base.files import write_if_changed
from frontload.device import cold_device as loop_device
from frontload.device.cold_device import ColdDevice
from frontload.machine import host as measure_host
from frontload.measure.rounds import SELECTIVELY_COLD, measure
from rich.console import Console

from coldbench import command
from coldbench.measure.requests import CountingLauncher
from coldbench.measure.starts import make_plan
from coldbench.picture import STYLE, TEXT, matplotlib, pyplot
from coldbench.variants import workload

ROOT = Path(__file__).parents[2]
SCHEMA = "frontload-readahead/1"
SETTINGS = (0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)  # KiB
# Where a start of no readahead is drawn: the axis is a logarithmic one.
_ZERO = 4
_COLOURS = ("#5f6b7a", "#c2571a", "#7d4fb0", "#0b7a75", "#1f6fd1")


def sweep(work: workload.WorkFolder, variants: tuple[str, ...], settings: tuple[int, ...],
          progress) -> list[dict]:
    """One cold start of each variant at each setting; a row has its counts."""
    rows = []
    with (work.environment(), tempfile.TemporaryDirectory(prefix="frontload-bench.") as scratch,
          ColdDevice(work.folder, [work.binary(variant) for variant in variants]) as device):
        launcher = CountingLauncher(device.number)
        placed = {variant: device.place(work.binary(variant)) for variant in variants}
        plan = replace(make_plan(work, placed, Path(scratch) / "output", runs=1),
                       conditions=(SELECTIVELY_COLD,))
        for kib in settings:
            device.set_read_ahead(kib)
            progress(f"readahead of {kib} KiB")
            for run in measure(plan, launcher).runs:
                read = run.files[str(placed[run.variant])].read
                rows.append({"read_ahead_kib": kib, "variant": run.variant,
                             "major_faults": run.sample.major_faults,
                             "minor_faults": run.sample.minor_faults,
                             "read_bytes": read.resident_bytes, "read_runs": len(read.runs()),
                             "requests": launcher.of(run.sample).reads,
                             "max_rss_bytes": run.sample.max_rss_kib * 1024})
    return rows


def draw(document: dict) -> bytes:
    """Faults and bytes by readahead as SVG; the same document gives the same bytes."""
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 4.0), sharex=True)
        for panel, (key, scale, title) in zip(axes, (
                ("major_faults", 1, "major faults"), ("read_bytes", 1e6, "MB read")), strict=True):
            for name, colour in zip(document["variants"], _COLOURS, strict=False):
                points = [(max(row["read_ahead_kib"], _ZERO), max(row[key] / scale, 1))
                          for row in document["rows"] if row["variant"] == name]
                panel.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=3.5,
                           linewidth=1.6, label=name)
            panel.set_xscale("log", base=2)
            panel.set_yscale("log")
            panel.set_title(title, loc="left", fontsize=10, weight="bold")
            panel.yaxis.set_major_formatter(lambda value, position: f"{value:,.0f}")
            panel.xaxis.set_major_formatter(
                lambda value, position: "0" if value <= _ZERO else f"{value:.0f}")
            panel.grid(True, linewidth=0.5, alpha=0.35)
            panel.axvline(loop_device.READ_AHEAD_KIB, linewidth=0.8, linestyle=":",
                          color=TEXT)
            panel.set_xlabel("readahead of the device, KiB (dotted: the kernel's default)")
            panel.spines[["top", "right"]].set_visible(False)
        axes[1].legend(frameon=False, fontsize=9, loc="upper left")
        figure.tight_layout()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", transparent=True, bbox_inches="tight", metadata={
            "Date": None, "Title": f"Cold starts of {document['workload']} by readahead"})
        pyplot.close(figure)
    return buffer.getvalue()


def _settings(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(word) for word in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers from 0 up")
    return found


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/readahead", description="Count what cold starts of a workload's variants read "
        "at different settings of the device's readahead (needs root).")
    parser.add_argument("workload", help="a folder of bench/workloads, or any such folder")
    parser.add_argument("--settings", metavar="KIB,...", type=_settings, default=SETTINGS,
                        help="of read_ahead_kb (default: 0 to 16384)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the counts go (default WORKLOAD.readahead.json in the work "
                        "folder)")
    parser.add_argument("-o", "--output", metavar="FILE.svg", type=Path, help="a picture of them")
    parser.add_argument("--build-dir", metavar="DIR", type=Path, default=ROOT / "build",
                        help="where Frontload was built (default %(default)s)")
    parser.add_argument("--llvm", metavar="DIR", type=Path, default=Path("/usr/lib/llvm-22"),
                        help="the LLVM to link with (default %(default)s)")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    if obstacle := loop_device.obstacle():
        raise errors.Failure(obstacle)
    described, source = workload.load(args.workload)
    work = workload.work_folder(described, source, args.build_dir, args.llvm)
    work.build([work.binary(variant).name for variant in described.variants])
    with Console(stderr=True).status("") as status:
        rows = sweep(work, described.variants, args.settings, status.update)
    document = {"schema": SCHEMA, "frontload": __version__, "workload": described.name,
                "host": measure_host.describe_host(), "variants": described.variants, "rows": rows}
    file = args.json or work.folder / f"{described.name}.readahead.json"
    write_if_changed(file, (json.dumps(document, indent=1) + "\n").encode())
    if args.output:
        write_if_changed(args.output, draw(document))
    print(f"the counts are in {file}")
    return errors.EXIT_OK


def main() -> int:
    args = parse()
    return command.end(lambda: run(args), "bench/readahead")


if __name__ == "__main__":
    sys.exit(main())
