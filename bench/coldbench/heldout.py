"""bench/heldout: what a front does to starts that nobody trained, by how its names are ordered.

The starts of a workload's scenarios are recorded with data. Four times, a fourth of them is held
out, and a front is made for the others, with weights. What `frontload predict` says of the starts
that were held out is averaged, for each of these orders of names that not all runs touched:

first touch  one order for all runs
kept runs    the same, but what the same runs touch comes together: what a link does by itself
"""

import argparse
import re
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from frontload.base import console, errors
from frontload.measure import prediction
from frontload.profile import format as profile
from frontload.profile import trace
from frontload.profile.kept_runs import KeptRuns

from coldbench import command
from coldbench.show import document
from coldbench.variants import workload
from coldbench.variants.work_folder import WorkFolder, work_folder

WORKLOADS = ("cc1-heldout", "cpython")
_FOLDS = 4
_WEIGHTS = (1, 3, 10, 30)
_FIGURES = ("major_faults", "read_bytes", "requests")
_DEVICE = "ssd"
PREFETCHES = ("none", "front")
NO_FRONT, FIRST_TOUCH, KEPT_RUNS = ORDERS = ("(no front)", "first touch", "kept runs")


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/heldout", description="Predict starts that were not trained, for fronts that "
        "order their names in several ways.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=WORKLOADS,
                        help=f"one that has scenarios: {', '.join(WORKLOADS)} (default: all)")
    parser.add_argument("--scenarios", metavar="N", type=command.at_least(_FOLDS),
                        help="only so many (default: all)")
    command.add_build_options(parser)
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/heldout.json in --build-dir)")
    return parser.parse_args(argv)


def record(work: WorkFolder, scenarios: Sequence[str],
           progress: Callable[[str], None]) -> list[list[Path]]:
    """The traces of each scenario; those that are there are not made anew."""
    front = work.folder / "heldout"
    found = []
    for name in scenarios:
        progress(f"{work.workload.name}: recording {name}")
        folder = front / name
        if not (folder / "recorded").exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a recording that was interrupted
            arguments = work.fill_in(work.workload.scenarios[name], front / "output")
            with work.environment():
                subprocess.run([work.bin / "frontload", "record", "--quiet", "--data", "-o", folder,
                                "--", work.binary("default"), *arguments], check=True,
                               cwd=work.folder, stdout=subprocess.DEVNULL)
            (folder / "recorded").touch()
        found.append(trace.find(folder))
    return found


def train(work: WorkFolder, traces: Sequence[Sequence[Path]], fold: int) -> dict[str, Path]:
    """A profile for each order, of all starts but those of a fold."""
    made = work.folder / "heldout" / f"{KEPT_RUNS}.{fold}.startup".replace(" ", "-")
    weighted = [f"--weighted-input={_WEIGHTS[number // _FOLDS % len(_WEIGHTS)]},{path}"
                for number, paths in enumerate(traces) if number % _FOLDS != fold
                for path in paths]
    link_map = work.folder / f"{work.workload.folder_name}.default.map"
    subprocess.run([work.bin / "frontload", "profile", "--quiet", *weighted, "--map", link_map,
                    "-o", made], check=True, cwd=work.folder)
    plain = profile.read(made)
    plain.kept = KeptRuns()
    other = made.with_name(f"{FIRST_TOUCH}.{fold}.startup".replace(" ", "-"))
    other.write_bytes(profile.to_bytes(plain))
    return {KEPT_RUNS: made, FIRST_TOUCH: other}


def _with_front(work: WorkFolder) -> str:
    """The variant with a front, as Ninja calls it."""
    return work.target("front" if "front" in work.workload.variants else "trained")


def link(work: WorkFolder, startup: Path) -> Path:
    """The program with a front by this profile, linked as the variant with a front is."""
    target = _with_front(work)
    linked = startup.with_suffix(".front")
    build = work.build_command(target)
    quoted, output = shlex.quote(str(startup)), shlex.quote(str(linked))
    for old, new in ((r"--startup-profile=[^, ]+", f"--startup-profile={quoted}"),
                     (rf"-o {re.escape(target)}(?= |$)", f"-o {output}")):
        build, found = re.subn(old, new.replace("\\", r"\\"), build)
        if found != 1:
            raise errors.Failure(f"{target}: the command that links it has no {old}")
    subprocess.run(build, shell=True, check=True, cwd=work.folder)
    return linked


def predict(work: WorkFolder, program: Path, traces: Sequence[Path], prefetch: str) -> list[dict]:
    """The figures of each start."""
    answer = prediction.ask(program, traces, work.binary("default"),
                            [f"--prefetch={prefetch}", f"--device={_DEVICE}"])
    return [start["devices"][_DEVICE] for start in answer["predictions"]]


def measure(work: WorkFolder, scenarios: Sequence[str],
            progress: Callable[[str], None]) -> list[dict]:
    # With the front is built what the program needs for its starts, such as Python's library.
    work.build([work.target("default"), _with_front(work)])
    traces = record(work, scenarios, progress)
    starts: dict[tuple[str, str], list[dict]] = {}
    for fold in range(_FOLDS):
        held_out = [path for paths in traces[fold::_FOLDS] for path in paths]
        programs = {NO_FRONT: work.binary("default")}
        for order, startup in train(work, traces, fold).items():
            progress(f"{work.workload.name}: linking {fold + 1} of {_FOLDS}, {order}")
            programs[order] = link(work, startup)
        for order, program in programs.items():
            for prefetch in PREFETCHES[:1] if order == NO_FRONT else PREFETCHES:
                progress(f"{work.workload.name}: predicting {fold + 1} of {_FOLDS}, {order}")
                starts.setdefault((order, prefetch), []).extend(
                    predict(work, program, held_out, prefetch))
    return [{"order": order, "prefetch": prefetch, "starts": len(each),
             **{figure: statistics.fmean(start[figure] for start in each)
                for figure in _FIGURES}}
            for (order, prefetch), each in starts.items()]


def run(args: argparse.Namespace) -> int:
    result = []
    for name in args.workloads:
        described, source = workload.load(name)
        if not described.scenarios:
            raise errors.Failure(f"{name}: has no scenarios",
                                 note=f"these have some: {', '.join(WORKLOADS)}")
        work = work_folder(described, source, args.build_dir, args.llvm, None)
        with command.progress() as progress:
            rows = measure(work, list(described.scenarios)[:args.scenarios], progress)
        result.append({"workload": name, "rows": rows})
        table = console.table(name, "prefetch", "starts", "faults", "MB read", "requests",
                              numbers=(2, 3, 4, 5))
        for row in rows:
            console.add_row(table, row["order"], row["prefetch"], f"{row['starts']}",
                            f"{row['major_faults']:.0f}", f"{row['read_bytes'] / 1e6:.2f}",
                            f"{row['requests']:.0f}")
        console.show(table)
    file = args.json or args.build_dir / "bench" / "heldout.json"
    document.write(file, document.head(document.HELDOUT, workloads=result))
    print(f"the result is in {file}")
    return errors.EXIT_OK


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    return command.end(lambda: run(args), "bench/heldout")


if __name__ == "__main__":
    sys.exit(main())
