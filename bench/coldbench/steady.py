"""bench/steady: what a front does to a running program with PGO: time in rounds, and counts.

The program is CPython built with clang's PGO: as lld links it, with its call-graph order; with a
front; and with a front and its prefetch. Each is linked many times, with its code and data at other
addresses (see variants/layouts.py). It runs the benchmarks deltablue, raytrace and json_loads of
pyperformance, each in its own process and for a fixed number of loops, with everything in memory.
The time of a process is the least of the values that pyperf measures in it, without its start. Each
round runs one layout of each interpreter. The time of a layout is the least of its rounds, since
other work of the machine only adds to it, and a ratio is the typical one of the layouts.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
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
from coldbench.variants.layouts import link_layouts
from coldbench.variants.run_words import environment
from coldbench.variants.work_folder import work_folder

# Benchmarks of pyperformance, and loops that take about a tenth of a second; raytrace's takes more.
PROGRAMS = {"deltablue": 15, "raytrace": 1, "json_loads": 150}
VARIANTS = ("clang-pgo", "clang-pgo+front", "clang-pgo+front+prefetch")
_VALUES = 3  # measured per process
_OWN_SECTION = ".PyRuntime"  # the section that all of CPython refers to most
_BUILD_VARIABLES = "no_build_variables"


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/steady", description="Build CPython with clang's PGO, with and without a "
        "front, and compare how it runs once it has started.")
    parser.add_argument("--layouts", metavar="N", type=command.at_least(2), default=64,
                        help="links of each interpreter (default %(default)s)")
    parser.add_argument("--rounds", metavar="N", type=command.at_least(2), default=320,
                        help="runs of each program by each interpreter (default %(default)s)")
    parser.add_argument("--programs", metavar="NAME,...",
                        help=f"of {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--no-counts", action="store_true",
                        help="do not count instructions and misses")
    parser.add_argument("--interpreters", metavar="A,B,...",
                        help="compare these with the first, as they are, and build none")
    command.add_build_options(parser)
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/steady.result.json in "
                        "--build-dir)")
    return parser.parse_args(argv)


def arguments(name: str, values: int = 1) -> list[str]:
    """The arguments of an interpreter for a benchmark: this many times its loops, as a worker of
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
    """The folder with pyperf, and nothing else of the bench's own Python; and with the build
    variables of CPython, which pyperf asks for and the bench's build lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{_BUILD_VARIABLES}.py").write_text("build_time_vars = {}\n")
    package = folder / "pyperf"
    package.unlink(missing_ok=True)
    package.symlink_to(str(files("pyperf")))
    return folder


def compare(interpreters: Sequence[Sequence[Path]], name: str, rounds: int, counts: bool,
            progress: Callable[[str], None]) -> dict:
    """Compares interpreters, each in several layouts, with the first one: times of rounds, and
    counts of one run of their first layouts."""
    launcher = Launcher()
    layouts = len(interpreters[0])
    times: list[list[float]] = [[] for _ in interpreters]
    for number, order in enumerate(orders(len(interpreters), rounds + 1, seed=1)):
        for index in order:
            interpreter = interpreters[index][(number - 1) % layouts]
            progress(f"{name}: run {number} of {interpreter.name}")
            seconds = measured(launcher, interpreter, name)
            if number:  # the first warms up
                times[index].append(seconds)
    by, counted = "nothing", []
    for interpreter, *_ in interpreters if counts else ():
        progress(f"{name}: count {interpreter.name}")
        by, found = counters.count([str(interpreter), *arguments(name)], os.environ)
        counted.append(found)
    base, *others = (of_layouts(each, layouts) for each in times)
    return {"program": name, "seconds": times, "counted_by": by, "counts": counted,
            "time_ratios": [asdict(typical.ratio(other, base)) for other in others]}


def of_layouts(times: Sequence[float], layouts: int) -> Sequence[float]:
    """The time of each layout, as rounds took them in turns; for a single layout, all its times."""
    if layouts == 1:
        return times
    return [min(times[layout::layouts]) for layout in range(layouts)]


def show(names: Sequence[str], results: list[dict]) -> None:
    kinds = list(dict.fromkeys(kind for result in results for counts in result["counts"]
                               for kind in counts))
    table = console.table("program", "interpreter", "time, typical ratio",
                          *(kind.replace("_", " ") + " ratio" for kind in kinds),
                          numbers=range(2, 3 + len(kinds)))
    for result in results:
        base, *others = result["counts"] or [{}] * len(names)
        for name, ratio, ours in zip(names[1:], result["time_ratios"], others, strict=True):
            cells = [f"{ours[kind] / base[kind]:.4f}" if base.get(kind) and kind in ours
                     else columns.ABSENT for kind in kinds]
            console.add_row(table, result["program"], name, columns.ratio(ratio, 4), *cells)
    console.show(table)
    if kinds:
        print(f"counted by: {', '.join(sorted({result['counted_by'] for result in results}))}")


def run(args: argparse.Namespace) -> int:
    build = args.build_dir.resolve()
    described, source = workload.load("cpython")
    programs = command.choose("--programs", args.programs, PROGRAMS, "program")
    given = [Path(path).resolve() for path in (args.interpreters or "").split(",") if path]
    if args.interpreters and len(given) < 2:
        raise errors.Failure(f"--interpreters: {args.interpreters}: are not two")
    os.environ["FRONTLOAD_BINDIR"] = str(build / "bin")
    # Hashes decide the places of objects, so they are the same in all runs.
    settings = described.environment | {
        "PYTHONHASHSEED": "0", "PYTHONPATH": str(library(build / "bench" / "pyperf")),
        "_PYTHON_SYSCONFIGDATA_NAME": _BUILD_VARIABLES}
    with command.progress() as progress, ExitStack() as stack:
        if given:
            interpreters = [[path] for path in given]
        else:
            work = work_folder(described, source, build, args.llvm, None)
            work.build([*work.targets(VARIANTS), "home"])
            folder = Path(stack.enter_context(
                tempfile.TemporaryDirectory(prefix="layouts.", dir=work.folder)))
            layouts = min(args.layouts, args.rounds)  # each layout is run
            interpreters = [link_layouts(work, variant, layouts, folder, progress,
                                         [_OWN_SECTION])
                            for variant in VARIANTS]
        stack.enter_context(environment(settings))
        results = [compare(interpreters, name, args.rounds, not args.no_counts, progress)
                   for name in programs]
    names = [path.name for path in given] or list(VARIANTS)
    show(names, results)
    file = args.json or build / "bench" / "steady.result.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    document.write(file, document.head(document.STEADY, interpreters=names,
                                       layouts=len(interpreters[0])) | {"programs": results})
    print(f"every run is in {file}")
    return errors.EXIT_OK
