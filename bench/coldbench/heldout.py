"""bench/heldout: how a front serves starts that were not trained.

The starts of a workload's scenarios are recorded with data. Each of them is held out in turn: the
program is linked with a front trained with 1, 2, 4 and 8 of the others, and with none
(--front=auto), and `frontload predict` says what the held-out start costs, with the front and its
tail prefetched. Beside these stand the program without a front, and one that was trained with the
start itself. The area is the mean number of faults from no training run to eight.
"""

import argparse
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from frontload.base import console, errors

from coldbench import command
from coldbench.measure.untrained_starts import DEVICES, build, link, predict, record, train
from coldbench.show import document, untrained
from coldbench.variants import workload
from coldbench.variants.work_folder import WorkFolder, work_folder
from coldbench.variants.workload import RECORDED

WORKLOADS = tuple(sorted(untrained.PROGRAMS))
TRAINED = tuple(map(int, untrained.TRAINED))


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
