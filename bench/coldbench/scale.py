"""bench/scale: the cost of each verb for a program of 5 million symbols, and a trace of a million
events of it.

Both are generated (variants/scaled.py): 3 GB with the object and the map of the link. Each verb is
run as users run it. Memory and processor seconds are those of all its processes together; the
program itself takes none, because it ends at once.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from frontload.base import console, errors

from coldbench import command
from coldbench.measure import memory
from coldbench.show import document
from coldbench.variants import scaled
from coldbench.variants.scaled import Scaled

_LINKERS = {"lld": True, "gold": True, "bfd": True, "bolt": True, "llvm-profdata": True,
            "lld-link": False, "link": False, "ld64": False}  # whether it looks names up in ELF
MAX_SECONDS, MAX_BYTES = 10, 1_000_000_000


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, and up to 1")
    return share


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/scale", description="Run each verb on a program of 5 million symbols, and "
        "measure time and memory of all its processes.")
    parser.add_argument("--scale", metavar="SHARE", type=_share, default=1.0,
                        help="so much of the program and of the trace (default %(default)s)")
    parser.add_argument("--only", metavar="ROW,...", help="of these rows of the table, and of what "
                        "they need")
    parser.add_argument("--runs", metavar="N", type=command.at_least(1), default=1,
                        help="of each, of which the least counts (default %(default)s)")
    command.add_build_options(parser)
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where it is made (default: bench/scale in --build-dir)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default scale.result.json in the work folder)")
    return parser.parse_args(argv)


def rows(made: Scaled) -> Iterator[tuple[str, list[str]]]:
    """The measured commands: the name in the table, and the words behind `frontload`. Later ones
    use the outputs of earlier ones."""
    program, trace, startup = str(made.program), str(made.trace), "scaled.startup"
    yield "profile", ["profile", trace, "-o", startup]
    yield "profile --map", ["profile", trace, "--map", str(made.map), "-o", "mapped.startup"]
    for linker, is_elf in _LINKERS.items():
        yield f"order --linker {linker}", [
            "order", startup, "--linker", linker, *(["--binary", program] if is_elf else []),
            "-o", f"order.{linker}"]
    yield "order --linker lld --objects", [
        "order", startup, "--linker", "lld", "--objects", str(made.object), "-o", "order.objects"]
    yield "check", ["check", program, "--profile", startup, "--min-coverage", "0"]
    yield "show", ["show", startup]
    yield "predict", ["predict", trace]
    yield "faults", ["faults", "--json", "scaled.faults.json", "--", program]
    yield "report", ["report", "scaled.faults.json", "--traces", trace, "-o", "scaled.html"]
    yield "report --map", ["report", "scaled.faults.json", "--traces", trace, "--map",
                           str(made.map), "-o", "mapped.html"]
    yield "measure --sections", ["measure", "--sections", "--runs", "2", "--", program]


def measure(args: argparse.Namespace, made: Scaled, progress) -> list[dict]:
    frontload = str(args.build_dir.resolve() / "bin" / "frontload")
    every = list(rows(made))
    names = [name for name, _ in every]
    only = command.choose("--only", args.only, names, "row")
    found = []
    for name, words in every:
        if name not in only:
            continue
        progress(name)
        uses = [memory.run([frontload, *words], made.folder) for _ in range(args.runs)]
        found.append({"verb": name, "seconds": min(use.seconds for use in uses),
                      "processor_seconds": min(use.processor_seconds for use in uses),
                      "memory": max(use.memory for use in uses)})
    return found


def show(found: list[dict]) -> None:
    table = console.table("frontload", "seconds", "of processors", "MB", "", numbers=(1, 2, 3))
    for each in found:
        fits = each["seconds"] <= MAX_SECONDS and each["memory"] <= MAX_BYTES
        console.add_row(table, each["verb"], f"{each['seconds']:.1f}",
                        f"{each['processor_seconds']:.1f}", f"{each['memory'] / 1e6:,.0f}",
                        "" if fits else "more than wanted")
    console.show(table)
    print(f"wanted: {MAX_SECONDS} seconds and {MAX_BYTES / 1e9:.0f} GB at most")


def run(args: argparse.Namespace) -> int:
    folder = (args.work_dir or args.build_dir / "bench" / "scale").resolve()
    with command.progress() as progress:
        progress("making the program and its trace")
        made = scaled.make(folder, args.scale, args.llvm / "bin" / "ld.lld")
        found = measure(args, made, progress)
    show(found)
    file = args.json or folder / "scale.result.json"
    document.write(file, document.head(document.SCALE, scale=args.scale, rows=found))
    print(f"the result is in {file}")
    return errors.EXIT_OK
