"""bench/fleet: merges the traces of many machines, and says what it takes.

The traces are generated (variants/fleets.py): 16 bytes for each first touch, 1.6 GB for the
defaults. With --recipes, what examples/fleet does to all of them is measured beside
`frontload profile`, and has to give the same bytes.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from frontload.base import console, errors
from frontload.base.errors import Failure

from coldbench import command
from coldbench.measure import memory
from coldbench.show import document
from coldbench.variants import fleets

_RECIPES = command.ROOT / "examples" / "fleet"
_MACHINE = 100  # traces


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/fleet", description="Merge the traces of many machines, and measure time and "
        "memory of all processes.")
    parser.add_argument("--functions", metavar="N", type=command.at_least(1), default=100_000,
                        help="of the program (default %(default)s)")
    parser.add_argument("--traces", metavar="N", type=command.at_least(1), default=10_000,
                        help="merged all, a tenth, and a hundredth (default %(default)s)")
    parser.add_argument("--touches", metavar="N", type=command.at_least(1), default=10_000,
                        help="first touches of each trace (default %(default)s)")
    parser.add_argument("--repeat", metavar="N", type=command.at_least(1), default=1,
                        help="merge each trace so many times, which takes no more room on the disk "
                        "(default %(default)s)")
    parser.add_argument("--recipes", action="store_true",
                        help="merge all by make, and by DuckDB, too")
    parser.add_argument("--runs", metavar="N", type=command.at_least(1), default=3,
                        help="of each, of which the least counts (default %(default)s)")
    command.add_build_options(parser)
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where the traces are made (default: bench/fleet in --build-dir)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default fleet.result.json in the work folder)")
    return parser.parse_args(argv)


def make(args: argparse.Namespace, folder: Path, progress) -> list[Path]:
    """The traces, those of a machine in a folder; made anew if they were of other numbers."""
    wanted = f"{args.functions} {args.touches}"
    done = folder / "made"
    if not done.exists() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    addresses = fleets.make_program(folder / "app", args.functions, args.llvm / "bin" / "ld.lld")
    all_traces = folder / "all"
    fleets.make_traces(all_traces, folder / "app", addresses, args.traces, args.touches,
                       lambda number: progress(f"trace {number}"))
    done.write_text(wanted)
    shutil.rmtree(folder / "traces", ignore_errors=True)
    traces = []
    for number in range(args.traces * args.repeat):
        machine = folder / "traces" / str(number // _MACHINE)
        machine.mkdir(parents=True, exist_ok=True)
        traces.append(machine / f"app.{number}.fltrace")
        os.link(all_traces / f"app.{number % args.traces}.fltrace", traces[-1])
    return traces


def measure(args: argparse.Namespace, folder: Path, traces: list[Path], progress) -> list[dict]:
    frontload = str(args.build_dir.resolve() / "bin" / "frontload")
    os.environ["PATH"] = f"{Path(frontload).parent}:{os.environ['PATH']}"
    rows = []

    def row(what: str, count: int, *words: str) -> None:
        progress(f"{what}: {count} traces")
        uses = [memory.run(words, folder) for _ in range(args.runs)]
        rows.append({"by": what, "traces": count, "seconds": min(use.seconds for use in uses),
                     "memory": max(use.memory for use in uses)})

    for count in sorted({max(1, len(traces) // part) for part in (100, 10, 1)}):
        (folder / "list").write_text("".join(f"{trace}\n" for trace in traces[:count]))
        row("frontload profile", count, frontload, "profile", "@list", "-o", "merged")
    if args.recipes:
        for file in ("Makefile", "merge.sql"):
            shutil.copy(_RECIPES / file, folder)
        parts = folder / "parts"
        row("make", len(traces), "sh", "-c", "rm -rf parts && make -s -j$(nproc)")
        row(f"DuckDB, {len(list(parts.iterdir()))} profiles", len(traces), sys.executable, "-c",
            'import duckdb; duckdb.sql(open("merge.sql").read())')
        for made in ("app.startup", "merged.startup"):
            if (folder / made).read_bytes() != (folder / "merged").read_bytes():
                raise Failure(f"{folder / made}: is not what `frontload profile` has made", code=1)
    return rows


def run(args: argparse.Namespace) -> int:
    folder = (args.work_dir or args.build_dir / "bench" / "fleet").resolve()
    with command.progress() as progress:
        rows = measure(args, folder, make(args, folder, progress), progress)
    table = console.table("merged by", "traces", "seconds", "MB", numbers=(1, 2, 3))
    for each in rows:
        console.add_row(table, each["by"], f"{each['traces']:,}", f"{each['seconds']:.1f}",
                        f"{each['memory'] / 1e6:,.0f}")
    console.show(table)
    file = args.json or folder / "fleet.result.json"
    document.write(file, document.head(
        document.FLEET, functions=args.functions, touches=args.touches, rows=rows))
    print(f"the result is in {file}")
    return errors.EXIT_OK
