"""bench/hooks: the cost of a call of the runtime's hook, beside that of an empty function.

A program (bench/hooked/million.c) calls the hook for a million functions, which are first touches,
and then again in rounds, each beside as many calls of an empty function. The system calls of a
first touch are the difference of two runs with different numbers of functions, counted by strace.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from frontload.base import console, errors
from frontload.measure import statistics

from coldbench import command

PROGRAM = command.ROOT / "bench/hooked/million.c"
FUNCTIONS = 1_000_000  # of the program


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/hooks", description="Measure what a call of the runtime's hook costs.")
    parser.add_argument("--rounds", metavar="N", type=command.at_least(2), default=50,
                        help="of a million calls each (default %(default)s)")
    command.add_build_dir(parser)
    return parser.parse_args(argv)


def execute(*words: os.PathLike | str | int, trace: Path | None = None) -> str:
    variables = {name: value for name, value in os.environ.items() if name != "FRONTLOAD_TRACE"}
    if trace:
        variables["FRONTLOAD_TRACE"] = str(trace)
    done = subprocess.run([str(word) for word in words], env=variables, capture_output=True,
                          text=True)
    if done.returncode:
        raise errors.Failure(f"{words[0]}: failed: {done.stderr.strip()}", code=1)
    return done.stdout


def count_calls(program: Path, functions: int, folder: Path) -> int:
    log = folder / "calls"
    execute("strace", "-f", "-o", log, program, 0, functions, trace=folder / f"{functions}")
    return len(log.read_text().splitlines())


def run(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="frontload-hooks.") as name:
        folder = Path(name)
        program = folder / "million"
        execute("cc", "-O2", "-finstrument-functions", PROGRAM,
                args.build_dir / "lib/libfrontload-rt.a", "-o", program)
        first, *rounds = execute(program, args.rounds, FUNCTIONS, trace=folder / "t").splitlines()
        steady, empty = zip(*(map(float, line.split()) for line in rounds), strict=True)
        calls = (count_calls(program, 20_000, folder) - count_calls(program, 10_000, folder)) / 1e4
    more = statistics.difference(steady, empty)
    table = console.table("", "", numbers=(1,))
    console.add_row(table, "ns of a call more than an empty function's",
                    f"{more.estimate:.2f} ({more.low:.2f} to {more.high:.2f})")
    console.add_row(table, "ns of a first touch", f"{float(first):.0f}")
    console.add_row(table, "system calls of a first touch", f"{calls:.2f}")
    console.show(table)
    return errors.EXIT_OK
