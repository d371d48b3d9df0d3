"""bench/fit: fits the numbers of the tail's model (lldplugin/startup_set/likely_sections.cpp).

Each program is linked with each choice of numbers, trained with one start, and predicted for
another. The numbers that are best for the other programs are then tried on each program: a fit to
these programs alone would be better there than on those of users.
"""

import argparse
import itertools
import statistics
from collections.abc import Callable, Sequence

from frontload.base import console, errors

from coldbench import command
from coldbench.measure import untrained_starts
from coldbench.show import untrained
from coldbench.variants import workload
from coldbench.variants.work_folder import WorkFolder, work_folder

FOLLOW, DAMPING, STEPS = (0.5, 0.7, 0.9), (0.0, 0.25, 0.5, 1.0), (2, 4, 8)
Numbers = tuple[float, float, int]
DEFAULT: Numbers = (0.7, 0.25, 4)
CHOICES = [*((f, d, DEFAULT[2]) for f, d in itertools.product(FOLLOW, DAMPING)),
           *((*DEFAULT[:2], s) for s in STEPS if s != DEFAULT[2])]


def parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/fit", description="Fit the numbers by which a link guesses what untrained "
        "startups touch, and try them on programs that the fit did not see.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*",
                        default=sorted(untrained.PROGRAMS),
                        help="as of bench/heldout (default: all)")
    parser.add_argument("--starts", metavar="N", type=int, default=3,
                        help="held-out starts of each program (default %(default)s)")
    command.add_build_options(parser)
    return parser.parse_args(argv)


def measure(work: WorkFolder, starts: int, progress: Callable[[str], None]) -> dict[Numbers, float]:
    """The mean faults of held-out starts, for each choice of numbers."""
    untrained_starts.build(work)
    names = list(work.workload.scenarios)
    faults: dict[Numbers, list[float]] = {numbers: [] for numbers in CHOICES}
    for i in range(starts):
        # The scenario in the middle between two that are held out is the least like them.
        held, other = (names[(2 * i + k) * len(names) // (2 * starts)] for k in (0, 1))
        traces = untrained_starts.record(work, held)
        profile = untrained_starts.train(work, untrained_starts.record(work, other))
        for follow, damping, steps in CHOICES:
            progress(f"{work.workload.name}: {held}, trained with {other}: "
                     f"{follow} {damping} {steps}")
            linked = untrained_starts.link(work, profile, more=(
                f"-frontload-follow={follow}", f"-frontload-damping={damping}",
                f"-frontload-steps={steps}"))
            found = untrained_starts.predict(work, linked, traces, "front")
            faults[follow, damping, steps].append(found["major_faults"])
    return {numbers: statistics.fmean(each) for numbers, each in faults.items()}


def best(programs: Sequence[dict[Numbers, float]]) -> Numbers:
    """The numbers that lose least to the best ones of each program."""
    return min(CHOICES, key=lambda numbers: statistics.fmean(
        faults[numbers] / min(faults.values()) for faults in programs))


def run(args: argparse.Namespace) -> int:
    found: dict[str, dict[Numbers, float]] = {}
    for name in args.workloads:
        described, source = workload.load(name)
        with command.progress() as progress:
            found[name] = measure(work_folder(described, source, args.build_dir, args.llvm, None),
                                  args.starts, progress)
    table = console.table("held-out faults", "default", "fitted to the others", "", "its best", "",
                          "its worst", "", numbers=(1, 2, 4, 6))
    for name, faults in found.items():
        others = best([each for other, each in found.items() if other != name] or [faults])
        worst = max(CHOICES, key=faults.__getitem__)
        console.add_row(table, untrained.PROGRAMS[name], f"{faults[DEFAULT]:.1f}", *(
            text for numbers in (others, best([faults]), worst)
            for text in (f"{faults[numbers]:.1f}", "{:g} {:g} {}".format(*numbers))))
    console.show(table)
    print("follow, damping, steps: {:g} {:g} {}".format(*best(list(found.values()))))
    return errors.EXIT_OK
