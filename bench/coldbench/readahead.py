"""bench/readahead: the reads of cold starts at different settings of the device's readahead.

The layout and the kernel's readahead together decide the faults and the bytes of a start: more
readahead means fewer faults and more unwanted bytes. This measures the trade-off, and what a layout
leaves of it. The counts repeat, so one start of each variant at each setting is enough.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from frontload.base import errors
from frontload.base.files import write_if_changed
from frontload.device import cold_device as loop_device
from frontload.device.cold_device import ColdDevice
from frontload.measure.conditions import SELECTIVELY_COLD
from frontload.measure.rounds import measure

from coldbench import command
from coldbench.judge import figures
from coldbench.measure.requests import CountingLauncher
from coldbench.measure.starts import make_plan
from coldbench.show import document, readahead_picture
from coldbench.variants import workload
from coldbench.variants.work_folder import WorkFolder, work_folder

SETTINGS = (0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)  # KiB


def sweep(work: WorkFolder, variants: tuple[str, ...], settings: tuple[int, ...],
          progress: Callable[[str], None]) -> list[dict]:
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
            rows += [{"read_ahead_kib": kib, "variant": run.variant, **figures.of_run(run),
                      "requests": launcher.of(run.sample).reads}
                     for run in measure(plan, launcher).runs]
    return rows


def _settings(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(command.at_least(0), text.split(",")))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers from 0 up") from None


def parse(argv: list[str]) -> argparse.Namespace:
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
    command.add_build_options(parser)
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    if obstacle := loop_device.obstacle():
        raise errors.Failure(obstacle)
    described, source = workload.load(args.workload)
    work = work_folder(described, source, args.build_dir, args.llvm)
    work.build(work.targets(described.variants))
    with command.progress() as progress:
        rows = sweep(work, described.variants, args.settings, progress)
    result = document.head(document.READAHEAD, workload=described.name,
                           variants=described.variants, rows=rows)
    file = args.json or work.folder / f"{described.name}.readahead.json"
    document.write(file, result)
    if args.output:
        write_if_changed(args.output, readahead_picture.draw(result))
    print(f"the counts are in {file}")
    return errors.EXIT_OK
