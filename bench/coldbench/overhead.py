"""bench/overhead: how much frontload measure, untraced, adds to a warm command.

It makes pairs of runs, in alternating order: the command alone, and the same command in
frontload-exec, the only addition of frontload measure. It takes three times:

alone     from before the command is spawned until it was reaped, by this process
told      frontload-exec's own figure: the time that frontload measure reports
around    from before frontload-exec is spawned until it was reaped, by this process

With --by, another program starts the command instead of frontload-exec, such as frontload-run with
a reading list of files that are already in memory.
"""

import argparse
import json
import math
import os
import shlex
import statistics
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from frontload.base import console, errors, tools
from frontload.measure import statistics as measure_statistics

from coldbench import command
from coldbench.show import columns


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/overhead", description="Compare a warm command's time with and without being "
        "measured.")
    parser.add_argument("--pairs", metavar="N", type=command.at_least(2), default=50,
                        help="pairs of runs (default %(default)s)")
    parser.add_argument("--by", metavar="WORDS", type=shlex.split,
                        help="what starts the command instead of frontload-exec, as one argument")
    command.add_build_dir(parser)
    parser.add_argument("command", metavar="COMMAND", nargs="+", help="after --")
    return parser.parse_args(argv)


def spawn(command: list[str]) -> int:
    """Runs a command without output; returns its time in nanoseconds."""
    sink = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in (0, 1)]
    start = time.monotonic_ns()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=sink)
    _, status = os.waitpid(child, 0)
    end = time.monotonic_ns()
    if status:
        raise errors.Failure(f"{command[0]}: failed (wait status {status})", code=1)
    return end - start


def compare(command: list[str], by: list[str], pairs: int) -> dict[str, list[int]]:
    """The command's times alone and started by another program."""
    times: dict[str, list[int]] = {"alone": [], "around": []}

    def alone() -> None:
        times["alone"].append(spawn(command))

    def around() -> None:
        times["around"].append(spawn([*by, *command]))

    _in_pairs(alone, around, pairs)
    return {name: values[1:] for name, values in times.items()}


def _in_pairs(one, other, pairs: int) -> None:
    for number in range(-1, pairs):  # the first pair is a warm-up
        for run in (one, other) if number % 2 else (other, one):
            run()


def measure(command: list[str], pairs: int) -> dict[str, list[int]]:
    times: dict[str, list[int]] = {"alone": [], "told": [], "around": []}
    with tempfile.NamedTemporaryFile() as output:
        measured = [str(tools.tool("frontload-exec")), f"--output={output.name}", "--", *command]

        def alone() -> None:
            times["alone"].append(spawn(command))

        def in_exec() -> None:
            times["around"].append(spawn(measured))
            times["told"].append(json.loads(Path(output.name).read_text())["wall_ns"])

        _in_pairs(alone, in_exec, pairs)
    return {name: values[1:] for name, values in times.items()}


def median(values: list[int]) -> tuple[float, float, float]:
    """The median, and its 95% confidence interval by order statistics: those that stand a normal
    quantile of a binomial distribution's standard deviations away (Conover, Practical Nonparametric
    Statistics, 3.2). A mean would be that of the few slowest runs."""
    ordered = sorted(values)
    away = 1.96 * math.sqrt(len(ordered)) / 2
    low, high = math.floor(len(ordered) / 2 - away), math.ceil(len(ordered) / 2 + away)
    return (statistics.median(ordered), ordered[max(low, 0)],
            ordered[min(high, len(ordered) - 1)])


def run(args: argparse.Namespace) -> int:
    os.environ["FRONTLOAD_BINDIR"] = str((args.build_dir / "bin").resolve())
    times = compare(args.command, args.by, args.pairs) if args.by \
        else measure(args.command, args.pairs)
    table = console.table("time", "ms", "ms more", "times alone", numbers=(1, 2, 3))
    for name, values in times.items():
        mean = measure_statistics.interval(values)
        ratio = measure_statistics.ratio(values, times["alone"])
        more = median([each - alone for each, alone in zip(values, times["alone"], strict=True)])
        console.add_row(table, name, f"{mean.estimate / 1e6:.3f}",
                        "{:.3f} ({:.3f} to {:.3f})".format(*(each / 1e6 for each in more)),
                        columns.ratio(asdict(ratio), 4))
    console.show(table)
    return errors.EXIT_OK
