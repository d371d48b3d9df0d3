"""bench/early: what a front does to a run that leaves at once, as with --version, on all devices.

A program is trained with its work and with a run that does hardly anything, and linked with a front
that it prefetches. Both runs then start cold, beside the program without a front, on a device of
each kind: neither is to be slower.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from frontload.base import console, errors
from frontload.base.files import parse_json
from frontload.device import kinds

from coldbench import command
from coldbench.show import columns, document
from coldbench.variants import workload
from coldbench.variants.work_folder import WorkFolder, work_folder

WORKLOADS = ("cc1", "git")
EARLY = "early"  # a run to train with, and the variant that is trained with it, too
_CONDITION = "selectively cold"
SLOWER = 1.05


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/early", description="Compare a run that leaves at once, and the usual one, "
        "with a prefetched front and without, from cold on all kinds of devices (needs root).")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=WORKLOADS,
                        help=f"of {', '.join(WORKLOADS)} (default: all)")
    parser.add_argument("--runs", metavar="N", type=command.at_least(2), default=10,
                        help="rounds on each device (default %(default)s)")
    command.add_build_options(parser)
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/early.json in --build-dir)")
    return parser.parse_args(argv)


def runs_of(work: WorkFolder) -> dict[str, list[str]]:
    """The arguments of the run that leaves at once, and of the usual one."""
    given = {EARLY: work.workload.training[EARLY], "usual": work.workload.arguments}
    return {name: work.fill_in(arguments, os.devnull) for name, arguments in given.items()}


def measure(work: WorkFolder, arguments: list[str], device: str, rounds: int) -> dict:
    """Both variants on one kind of device: their figures, and the ratio of their times."""
    base, front = (str(work.folder / work.target(name)) for name in ("default", EARLY))
    with tempfile.NamedTemporaryFile(suffix=".json") as result, work.environment():
        subprocess.run(
            [work.bin / "frontload", "measure", "--quiet", f"--device={device}",
             "--selectively-cold", f"--runs={rounds}", f"--variant=default={base}",
             f"--variant=front={front}", f"--json={result.name}", "--", "{}", *arguments],
            check=True, cwd=work.folder, stdout=subprocess.DEVNULL)
        measured = parse_json(Path(result.name).read_bytes(), result.name)
    figures = {each["variant"]: each["figures"] for each in measured["results"]}
    ratio, = (each for each in measured["comparisons"]
              if each["figure"] == "wall_ns" and each["condition"] == _CONDITION)
    return {"device": device, "figures": figures,
            "time_ratio": {name: ratio[name] for name in ("estimate", "low", "high")}}


def measure_all(work: WorkFolder, rounds: int, progress: Callable[[str], None]) -> Iterator[dict]:
    for run, arguments in runs_of(work).items():
        for device in kinds.KINDS:
            progress(f"{work.workload.name}: {run} run on {device}")
            yield {"workload": work.workload.name, "run": run, "arguments": arguments,
                   **measure(work, arguments, device, rounds)}


def show(results: list[dict]) -> None:
    table = console.table("program", "run", "device", "major faults", "with a front", "MB read",
                          "with a front", "time, paired ratio", numbers=range(3, 8))
    for result in results:
        figures = [result["figures"][name] for name in ("default", "front")]
        console.add_row(table, result["workload"], result["run"], result["device"],
                        *(columns.count(each["major_faults"]["median"]) for each in figures),
                        *(columns.megabytes(each["read_bytes"]["median"]) for each in figures),
                        columns.ratio(result["time_ratio"]))
    console.show(table)


def run(args: argparse.Namespace) -> int:
    build = args.build_dir.resolve()
    os.environ["FRONTLOAD_BINDIR"] = str(build / "bin")
    results: list[dict] = []
    for name in args.workloads:
        described, source = workload.load(name)
        if EARLY not in described.training:
            raise errors.Failure(f"{name}: has no run that leaves at once",
                                 note=f"there are: {', '.join(WORKLOADS)}")
        work = work_folder(described, source, build, args.llvm, None)
        work.build(work.targets(("default", EARLY)))
        with command.progress() as progress:
            results += measure_all(work, args.runs, progress)
    show(results)
    file = args.json or build / "bench" / "early.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    document.write(file, document.head(document.EARLY) | {"starts": results})
    print(f"all figures are in {file}")
    # A ratio that may be one is none that is known to be worse.
    slower = [result for result in results if result["time_ratio"]["low"] > SLOWER]
    for result in slower:
        errors.error(f"{result['workload']}: the {result['run']} run is slower with a front on "
                     f"{result['device']}: {json.dumps(result['time_ratio'])}")
    return errors.EXIT_VERDICT if slower else errors.EXIT_OK


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    return command.end(lambda: run(args), "bench/early")


if __name__ == "__main__":
    sys.exit(main())
