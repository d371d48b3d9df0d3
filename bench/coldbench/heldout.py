"""bench/heldout: how a front serves starts that were not trained.

The starts of a workload's scenarios are recorded with data. Each of them is held out in turn: the
program is linked with a front trained with 1, 2, 4 and 8 of the others, and with none
(--front=auto), and `frontload predict` says what the held-out start costs, with the front and its
tail prefetched. Beside these stand the program without a front, and one that was trained with the
start itself. The area is the mean number of faults from no training run to eight.
"""

import argparse
import re
import shlex
import shutil
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from frontload.base import console, errors, processes
from frontload.measure import prediction
from frontload.profile import trace

from coldbench import command
from coldbench.show import document, untrained
from coldbench.variants import workload
from coldbench.variants.work_folder import WorkFolder, work_folder
from coldbench.variants.workload import RECORDED

WORKLOADS = tuple(sorted(untrained.PROGRAMS))
TRAINED = tuple(map(int, untrained.TRAINED))
DEVICES = ("hdd", "emmc", "ssd", "nfs")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/heldout", description="Predict starts that were not trained, for fronts that "
        "were trained with some others.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=WORKLOADS,
                        help=f"one that has scenarios: {', '.join(WORKLOADS)} (default: all)")
    command.add_build_options(parser)
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/heldout.json in --build-dir)")
    return parser.parse_args(argv)


def record(work: WorkFolder, name: str) -> list[Path]:
    """The traces of a scenario; existing ones are kept."""
    front = work.folder / "heldout"
    folder = front / re.sub(r"[^\w-]+", "-", name)
    program = work.binary(RECORDED.program)
    if not (folder / "recorded").exists():
        shutil.rmtree(folder, ignore_errors=True)  # of an interrupted recording
        for made in (front, folder):
            made.mkdir(exist_ok=True)
            made.chmod(0o1777)  # for a command that changes its user
        output = front / "output"
        words = work.fill_in(work.workload.scenarios[name], output)
        command, options = (program, *words), []
        if ready := work.ready(output):
            command = work.command(RECORDED.program, program, output)
            options = replace(ready, request=f"{ready.request} {shlex.join(words)}").options()
        with work.environment():
            processes.check_call(
                [work.bin / "frontload", "record", "--quiet", "--data", "-o", folder, *options,
                 "--", *command], cwd=work.folder)
        (folder / "recorded").touch()
    return [path for path in trace.find(folder) if path.name.startswith(program.name)]


def train(work: WorkFolder, traces: Sequence[Path]) -> Path:
    """A profile of these starts."""
    made = work.folder / "heldout" / "trained.startup"
    link_map = work.folder / f"{work.workload.folder_name}.{RECORDED.program}.map"
    processes.check_call([work.bin / "frontload", "profile", "--quiet", *traces, "--map", link_map,
                          "-o", made], cwd=work.folder)
    return made


def build(work: WorkFolder) -> None:
    """The program to record, and one with a front: also what starts need, as Python's library."""
    work.build([work.target(RECORDED.program),
                work.target("front" if "front" in work.workload.variants else "trained")])


def link(work: WorkFolder, startup: Path | None, name: str = "linked",
         more: Sequence[str] = ()) -> Path:
    """The program with a front by this profile, or by none, and with `more` options of LLVM."""
    target = work.target("front" if "front" in work.workload.variants else "trained")
    linked = work.folder / "heldout" / name
    build = re.sub(r"(--front-report=)[^, ]+", rf"\1{linked}.json", work.build_command(target))
    between = "," if re.search(r"-Wl,\S*--startup-profile=", build) else " "
    trained = f"{between}-mllvm{between}".join(
        (f"--startup-profile={shlex.quote(str(startup))}" if startup else "--front=auto", *more))
    for old, new in ((r"--startup-profile=[^, ]+", trained),
                     (rf"-o (\.\./)?{re.escape(target)}(?= |$)", f"-o {shlex.quote(str(linked))}")):
        build, found = re.subn(old, new.replace("\\", r"\\"), build)
        if found != 1:
            raise errors.Failure(f"{target}: the command that links it has no {old}")
    # Its messages would stand between the tables.
    log = shlex.quote(f"{linked}.log")
    processes.check_call(["sh", "-c", f"{{ {build}; }} 2>{log} || {{ tail {log}; exit 1; }}"],
                         cwd=work.folder)
    return linked


def predict(work: WorkFolder, program: Path, traces: Sequence[Path], prefetch: str) -> dict:
    """The figures of a start: sums of its processes."""
    answer = prediction.ask(program, traces, work.binary(RECORDED.program),
                            [f"--prefetched={prefetch}", *(f"--device={d}" for d in DEVICES)])
    starts = [start["devices"] for start in answer["predictions"]]
    figures = {name: sum(start[DEVICES[0]][name] for start in starts)
               for name in ("major_faults", "read_bytes", "requests")}
    return figures | {f"seconds_{device}": sum(start[device]["seconds"] for start in starts)
                      for device in DEVICES}


def measure(work: WorkFolder, progress: Callable[[str], None]) -> list[dict]:
    """A row for each number of training runs: the means over all starts."""
    build(work)
    names = list(work.workload.scenarios)
    traces = []
    for name in names:
        progress(f"{work.workload.name}: recording {name}")
        traces.append(record(work, name))
    no_training = link(work, None, "no-training")
    rows: dict[str, list[dict]] = {}
    for number, name in enumerate(names):
        progress(f"{work.workload.name}: {number + 1} of {len(names)}, {name}")

        def add(row: str, program: Path, prefetch: str = "front", start: int = number) -> None:
            rows.setdefault(row, []).append(predict(work, program, traces[start], prefetch))

        add(untrained.PLAIN, work.binary(RECORDED.program), "none")
        others = names[number + 1:] + names[:number]
        for runs in TRAINED:
            # Spread over the others: neighbors in the list are alike.
            chosen = [names.index(others[i * len(others) // runs]) for i in range(runs)]
            add(f"{runs}", link(work, train(work, [path for i in chosen for path in traces[i]]))
                if runs else no_training)
        add(untrained.ITSELF, link(work, train(work, traces[number])))
    return [{"trained_with": row,
             **{figure: statistics.fmean(start[figure] for start in each) for figure in each[0]}}
            for row, each in rows.items()]


def area(rows: Sequence[dict]) -> float:
    """The mean number of faults from no training run to the most, by trapezoids."""
    faults = [next(row["major_faults"] for row in rows if row["trained_with"] == f"{runs}")
              for runs in TRAINED]
    steps = zip(TRAINED, TRAINED[1:], faults, faults[1:], strict=False)
    return sum((b - a) * (x + y) / 2 for a, b, x, y in steps) / TRAINED[-1]


def run(args: argparse.Namespace) -> int:
    result = []
    for name in args.workloads:
        described, source = workload.load(name)
        if len(described.scenarios) <= TRAINED[-1]:
            raise errors.Failure(f"{name}: has too few scenarios",
                                 note=f"these have enough: {', '.join(WORKLOADS)}")
        work = work_folder(described, source, args.build_dir, args.llvm, None)
        with command.progress() as progress:
            rows = measure(work, progress)
        result.append({"name": name, "starts": len(described.scenarios), "area": area(rows),
                       "rows": rows})
        table = console.table(f"{name}: trained with", "faults", "MB read", "requests",
                              *(f"s, {device}" for device in DEVICES), numbers=range(1, 8))
        for row in rows:
            console.add_row(table, row["trained_with"], f"{row['major_faults']:.0f}",
                            f"{row['read_bytes'] / 1e6:.1f}", f"{row['requests']:.0f}",
                            *(f"{row[f'seconds_{device}']:.3f}" for device in DEVICES))
        console.show(table)
        print(f"{result[-1]['area']:.0f} faults on average, from no training run to {TRAINED[-1]}")
    file = args.json or args.build_dir / "bench" / "heldout.json"
    document.write(file, document.head(document.HELDOUT, workloads=result))
    print(f"the result is in {file}")
    return errors.EXIT_OK
