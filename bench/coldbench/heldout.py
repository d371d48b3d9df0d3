"""bench/heldout: how a front serves starts that were not trained, by the order of its names.

The starts of a workload's scenarios are recorded with data. Four times, a fourth of them is held
out, and a front is made for the others, with weights. The predictions of `frontload predict` for
the held-out starts are averaged, for each of these orders of names that not all runs touched:

first touch   one order for all runs
kept runs     the same, but names that the same runs touch come together: the default of a link
basic blocks  of each function only the blocks that ran, if the workload has a variant of that; this
              compiles it four times
"""

import argparse
import re
import shlex
import shutil
import statistics
import subprocess
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
from coldbench.variants.workload import RECORDED

WORKLOADS = ("cc1-heldout", "cpython")
_FOLDS = 4
_WEIGHTS = (1, 3, 10, 30)
_FIGURES = ("major_faults", "read_bytes", "requests")
_DEVICE = "ssd"
PREFETCHES = ("none", "front")
NO_FRONT, FIRST_TOUCH, KEPT_RUNS = ("(no front)", "first touch", "kept runs")
BLOCKS = "basic blocks"
_BLOCKS_VARIANT = "front+blocks"
_BLOCKS_TREE, _CLUSTERS = "tree.blocks", "blocks.clusters"  # of variants.ninja


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/heldout", description="Predict starts that were not trained, for fronts that "
        "order their names in several ways.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=WORKLOADS,
                        help=f"one that has scenarios: {', '.join(WORKLOADS)} (default: all)")
    command.add_build_options(parser)
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/heldout.json in --build-dir)")
    return parser.parse_args(argv)


def record(work: WorkFolder, scenarios: Sequence[str], program: str,
           progress: Callable[[str], None]) -> list[list[Path]]:
    """The traces of each scenario, by one of the programs; existing ones are kept."""
    front = work.folder / "heldout" / program
    found = []
    for name in scenarios:
        progress(f"{work.workload.name}: recording {name} of {program}")
        folder = front / name
        if not (folder / "recorded").exists():
            shutil.rmtree(folder, ignore_errors=True)  # of an interrupted recording
            arguments = work.fill_in(work.workload.scenarios[name], front / "output")
            with work.environment():
                subprocess.run([work.bin / "frontload", "record", "--quiet", "--data", "-o", folder,
                                "--", work.binary(program), *arguments], check=True,
                               cwd=work.folder, stdout=subprocess.DEVNULL)
            (folder / "recorded").touch()
        found.append(trace.find(folder))
    return found


def train(work: WorkFolder, traces: Sequence[Sequence[Path]], program: str, fold: int) -> Path:
    """A profile of all starts but those of a fold, by one of the programs."""
    made = work.folder / "heldout" / program / f"{fold}.startup"
    weighted = [f"--weighted-input={_WEIGHTS[number // _FOLDS % len(_WEIGHTS)]},{path}"
                for number, paths in enumerate(traces) if number % _FOLDS != fold
                for path in paths]
    link_map = work.folder / f"{work.workload.folder_name}.{program}.map"
    subprocess.run([work.bin / "frontload", "profile", "--quiet", *weighted, "--map", link_map,
                    "-o", made], check=True, cwd=work.folder)
    return made


def without_runs(startup: Path) -> Path:
    """The same profile without kept runs."""
    plain = profile.read(startup)
    plain.kept = KeptRuns()
    other = startup.with_suffix(".plain.startup")
    other.write_bytes(profile.to_bytes(plain))
    return other


def _with_front(work: WorkFolder) -> str:
    """Ninja's name of the variant with a front."""
    return work.target("front" if "front" in work.workload.variants else "trained")


def link(work: WorkFolder, startup: Path, target: str, tree: str = "") -> Path:
    """The program with a front by this profile, linked like the target; with the objects of another
    tree, if one is given."""
    linked = startup.with_name(f"{startup.stem}.{target}")
    build = re.sub(r"(--front-report=)[^, ]+", r"\1heldout.front.json", work.build_command(target))
    quoted, output = shlex.quote(str(startup)), shlex.quote(str(linked))
    for old, new in ((r"--startup-profile=[^, ]+", f"--startup-profile={quoted}"),
                     (rf"-o {re.escape(target)}(?= |$)", f"-o {output}")):
        build, found = re.subn(old, new.replace("\\", r"\\"), build)
        if found != 1:
            raise errors.Failure(f"{target}: the command that links it has no {old}")
    if tree:
        build = build.replace(_BLOCKS_TREE, tree)
    subprocess.run(build, shell=True, check=True, cwd=work.folder)
    return linked


def link_blocks(work: WorkFolder, startup: Path, program: str) -> Path:
    """The program recompiled with the blocks of this profile, and linked with a front by it."""
    clusters, tree = "heldout.clusters", "tree.heldout"
    subprocess.run([work.bin / "frontload", "order", "--quiet", startup, "--linker", "clang",
                    "--binary", work.binary(program), "-o", clusters], check=True, cwd=work.folder)
    build = work.build_command(_BLOCKS_TREE)
    if _CLUSTERS not in build:
        raise errors.Failure(f"{_BLOCKS_TREE}: the command that compiles it has no {_CLUSTERS}")
    subprocess.run(build.replace(_CLUSTERS, clusters).replace(_BLOCKS_TREE, tree), shell=True,
                   check=True, cwd=work.folder, stdout=subprocess.DEVNULL)
    return link(work, startup, work.target(_BLOCKS_VARIANT), tree)


def predict(work: WorkFolder, program: Path, traces: Sequence[Path], recorded: str,
            prefetch: str) -> list[dict]:
    """The figures of each start."""
    answer = prediction.ask(program, traces, work.binary(recorded),
                            [f"--prefetched={prefetch}", f"--device={_DEVICE}"])
    return [start["devices"][_DEVICE] for start in answer["predictions"]]


def measure(work: WorkFolder, scenarios: Sequence[str], with_blocks: bool,
            progress: Callable[[str], None]) -> list[dict]:
    # The build of the front also builds what starts need, such as Python's library.
    work.build([work.target("default"), _with_front(work)])
    base = RECORDED.program
    mapped = work.workload.recording(_BLOCKS_VARIANT).program
    if with_blocks:
        work.build([work.target(mapped), work.target(_BLOCKS_VARIANT)])
    traces = {program: record(work, scenarios, program, progress)
              for program in dict.fromkeys([base, mapped] if with_blocks else [base])}
    starts: dict[tuple[str, str], list[dict]] = {}
    for fold in range(_FOLDS):
        startup = train(work, traces[base], base, fold)
        # For each order, the program, and the one whose recordings predict it.
        programs = {NO_FRONT: (work.binary(base), base)}
        for order, ordered in ((FIRST_TOUCH, without_runs(startup)), (KEPT_RUNS, startup)):
            progress(f"{work.workload.name}: linking {fold + 1} of {_FOLDS}, {order}")
            programs[order] = (link(work, ordered, _with_front(work)), base)
        if with_blocks:
            progress(f"{work.workload.name}: compiling {fold + 1} of {_FOLDS}, {BLOCKS}")
            of_blocks = train(work, traces[mapped], mapped, fold)
            programs[BLOCKS] = (link_blocks(work, of_blocks, mapped), mapped)
        for order, (program, recorded) in programs.items():
            held_out = [path for paths in traces[recorded][fold::_FOLDS] for path in paths]
            for prefetch in PREFETCHES[:1] if order == NO_FRONT else PREFETCHES:
                progress(f"{work.workload.name}: predicting {fold + 1} of {_FOLDS}, {order}")
                starts.setdefault((order, prefetch), []).extend(
                    predict(work, program, held_out, recorded, prefetch))
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
            with_blocks = _BLOCKS_VARIANT in described.variants
            rows = measure(work, list(described.scenarios), with_blocks, progress)
        result.append({"workload": name, "rows": rows})
        table = console.table(name, "prefetch", "starts", "faults", "MB read", "requests",
                              numbers=(2, 3, 4, 5))
        for row in rows:
            console.add_row(table, row["order"], row["prefetch"], f"{row['starts']}",
                            f"{row['major_faults']:.1f}", f"{row['read_bytes'] / 1e6:.2f}",
                            f"{row['requests']:.0f}")
        console.show(table)
    file = args.json or args.build_dir / "bench" / "heldout.json"
    document.write(file, document.head(document.HELDOUT, workloads=result))
    print(f"the result is in {file}")
    return errors.EXIT_OK
