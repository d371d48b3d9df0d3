"""bench/steady: what a front does to a program of PGO once it runs: time in pairs, and counts.

The program is CPython built with clang's PGO, once as lld links it, with its call-graph order, and
once with a front. It runs the benchmarks deltablue, raytrace and json_loads of pyperformance, each
in a process of its own and for a fixed number of loops, with everything in memory. The time of a
process is the least of the values that pyperf measures in it, without its start.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from frontload.base import console, errors
from frontload.measure.launcher import Launcher
from frontload.measure.plan import orders

from coldbench import command
from coldbench.measure import counters, typical
from coldbench.show import columns, document
from coldbench.variants import workload
from coldbench.variants.work_folder import work_folder

# Benchmarks of pyperformance, and loops that take about a tenth of a second; raytrace's takes more.
PROGRAMS = {"deltablue": 15, "raytrace": 1, "json_loads": 150}
VARIANTS = ("clang-pgo", "clang-pgo+front")
_VALUES = 5  # that a process measures
_BUILD_VARIABLES = "no_build_variables"


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/steady", description="Build CPython with clang's PGO, with and without a "
        "front, and compare how it runs once it has started.")
    parser.add_argument("--pairs", metavar="N", type=command.at_least(2), default=200,
                        help="pairs of runs of each program (default %(default)s)")
    parser.add_argument("--programs", metavar="NAME,...",
                        help=f"of {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--no-counts", action="store_true",
                        help="do not count instructions and misses")
    parser.add_argument("--interpreters", metavar="A,B",
                        help="compare these two, and build none")
    command.add_build_options(parser)
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/steady.result.json in "
                        "--build-dir)")
    return parser.parse_args(argv)


def arguments(name: str, values: int = 1) -> list[str]:
    """What an interpreter is to do for a benchmark: its loops so many times, as a worker of
    pyperf."""
    script = files("pyperformance") / f"data-files/benchmarks/bm_{name}/run_benchmark.py"
    return ["-S", str(script), "--worker", f"--loops={PROGRAMS[name]}", "--warmups=0",
            f"--values={values}"]


def measured(launcher: Launcher, interpreter: Path, name: str) -> float:
    """The least time that one process measures for a benchmark: seconds a loop."""
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        result = Path(folder) / "result.json"
        sample = launcher.run([str(interpreter), *arguments(name, _VALUES), "-o", str(result)])
        if sample.failed:
            raise errors.Failure(sample.failure_of(str(interpreter)))
        if not result.exists():
            raise errors.Failure(f"{interpreter}: has measured nothing")
        (benchmark,) = json.loads(result.read_bytes())["benchmarks"]
    return min(value for run in benchmark["runs"] for value in run.get("values", ()))


def library(folder: Path) -> Path:
    """The folder, with pyperf, and nothing else of the Python that the bench runs in; and with what
    CPython's own build says of itself, which the bench's does not, and pyperf asks for."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{_BUILD_VARIABLES}.py").write_text("build_time_vars = {}\n")
    package = folder / "pyperf"
    package.unlink(missing_ok=True)
    package.symlink_to(str(files("pyperf")))
    return folder


def compare(interpreters: tuple[Path, Path], name: str, pairs: int,
            environment: Mapping[str, str], counts: bool, progress: Callable[[str], None]) -> dict:
    """How the second interpreter compares with the first: times of pairs, and counts of one run."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        launcher = Launcher()
        times: tuple[list[float], list[float]] = ([], [])
        for number, order in enumerate(orders(2, pairs + 1, seed=1)):  # the first warms up
            for index in order:
                progress(f"{name}: run {number} of {interpreters[index].name}")
                seconds = measured(launcher, interpreters[index], name)
                if number:
                    times[index].append(seconds)
        by, counted = "nothing", []
        for interpreter in interpreters if counts else ():
            progress(f"{name}: count {interpreter.name}")
            by, found = counters.count([str(interpreter), *arguments(name)], os.environ)
            counted.append(found)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return {"program": name, "seconds": times, "counted_by": by, "counts": counted,
            "time_ratio": asdict(typical.ratio(times[1], times[0])),
            "least_ratio": min(times[1]) / min(times[0])}


def show(results: list[dict]) -> None:
    kinds = list(dict.fromkeys(kind for result in results for counts in result["counts"]
                               for kind in counts))
    table = console.table("program", "time, typical ratio", "of the least",
                          *(kind.replace("_", " ") + " ratio" for kind in kinds),
                          numbers=range(1, 3 + len(kinds)))
    for result in results:
        cells = []
        for kind in kinds:
            base, ours = (counts.get(kind) for counts in result["counts"])
            cells.append(f"{ours / base:.4f}" if base and ours is not None else columns.ABSENT)
        console.add_row(table, result["program"], columns.ratio(result["time_ratio"], 4),
                        f"{result['least_ratio']:.4f}", *cells)
    console.show(table)
    if kinds:
        print(f"counted by: {', '.join(sorted({result['counted_by'] for result in results}))}")


def run(args: argparse.Namespace) -> int:
    build = args.build_dir.resolve()
    described, source = workload.load("cpython")
    names = command.choose("--programs", args.programs, PROGRAMS, "program")
    os.environ["FRONTLOAD_BINDIR"] = str(build / "bin")
    # Objects have their places by their hashes, so these are the same in all runs.
    environment = described.environment | {
        "PYTHONHASHSEED": "0", "PYTHONPATH": str(library(build / "bench" / "pyperf")),
        "_PYTHON_SYSCONFIGDATA_NAME": _BUILD_VARIABLES}
    if args.interpreters:
        found = tuple(Path(path).resolve() for path in args.interpreters.split(","))
        if len(found) != 2:
            raise errors.Failure(f"--interpreters: {args.interpreters}: are not two")
    else:
        work = work_folder(described, source, build, args.llvm, None)
        work.build([*work.targets(VARIANTS), "home"])
        found = tuple(work.binary(variant) for variant in VARIANTS)
    with command.progress() as progress:
        results = [compare(found, name, args.pairs, environment, not args.no_counts, progress)
                   for name in names]
    show(results)
    file = args.json or build / "bench" / "steady.result.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    document.write(file, document.head(document.STEADY, interpreters=list(map(str, found)))
                   | {"programs": results})
    print(f"every run is in {file}")
    return errors.EXIT_OK


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    return command.end(lambda: run(args), "bench/steady")


if __name__ == "__main__":
    sys.exit(main())
