"""bench/race: the command line of the race; one table for each workload, one JSON for all."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from frontload import __version__
from frontload.base import errors
from frontload.base.files import write_if_changed
from frontload.machine import host as measure_host
from rich.console import Console

from coldbench import command, contest
from coldbench.show import terminal
from coldbench.variants import rows, workload

ROOT = Path(__file__).parents[2]
SCHEMA = "frontload-race/1"
WORKLOADS = ("cc1", "cpython", "git", "wasm-tools")


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/race", description="Build several programs in every way that makes them start "
        "faster, and measure all of these from cold in one run, on a device of their own (needs "
        "root). bench/table makes the documents' tables from the result.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=list(WORKLOADS),
                        help=f"folders of bench/workloads (default: {' '.join(WORKLOADS)})")
    parser.add_argument("--runs", metavar="N", type=int, default=5,
                        help="rounds of each kind (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/race.json in --build-dir)")
    parser.add_argument("--rows", metavar="NAME,...", help="only these (default: all)")
    parser.add_argument("--no-links", action="store_true", help="do not time links")
    parser.add_argument("--no-recordings", action="store_true", help="do not time recordings")
    parser.add_argument("--no-device", action="store_true",
                        help="measure in the work folders, as without root")
    parser.add_argument("--build-only", action="store_true",
                        help="build all variants, and measure nothing")
    parser.add_argument("--build-dir", metavar="DIR", type=Path, default=ROOT / "build",
                        help="where Frontload was built (default %(default)s)")
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where variants are built, a folder for each program (default: bench "
                        "in --build-dir)")
    parser.add_argument("--llvm", metavar="DIR", type=Path, default=Path("/usr/lib/llvm-22"),
                        help="the LLVM to compile and link with (default %(default)s)")
    args = parser.parse_args(argv)
    if args.runs < 1:
        parser.error("--runs is a number from 1 up")
    return args


def run(args: argparse.Namespace) -> int:
    base = args.work_dir or args.build_dir / "bench"
    prepared = []
    for name in args.workloads:  # a wrong name shows before hours of work
        described, source = workload.load(name)
        prepared.append((described, source, _chosen(described, args.rows)))
    file = args.json or base / "race.json"
    document = {"schema": SCHEMA, "frontload": __version__, "host": measure_host.describe_host(),
                "runs": args.runs, "workloads": []}
    with Console(stderr=True).status("") as status:
        works = []
        for described, source, chosen in prepared:  # all before the first is measured
            works.append(workload.work_folder(described, source, args.build_dir, args.llvm,
                                              base / described.folder_name))
            status.update(f"{described.name}: building the variants")
            contest.build(works[-1], chosen)
        if args.build_only:
            return errors.EXIT_OK
        for work, (_, _, chosen) in zip(works, prepared, strict=True):
            found = contest.run(work, chosen, runs=args.runs, device=not args.no_device,
                                links=not args.no_links, recorded=not args.no_recordings,
                                progress=status.update)
            document["workloads"].append(contest.to_json(found))
            write_if_changed(file, (json.dumps(document, indent=1) + "\n").encode())
            terminal.show(document["workloads"][-1])
    print(f"every run is in {file}")
    same = all(each["outputs_are_identical"] for each in document["workloads"])
    return errors.EXIT_OK if same else errors.EXIT_VERDICT


def _chosen(described: workload.Workload, names: str | None) -> list[rows.Row]:
    present = rows.of(described)
    if names is None:
        return present
    wanted = set(names.split(","))
    unknown = wanted - set(rows.BY_NAME)
    if unknown:
        raise errors.Failure(f"--rows: {', '.join(sorted(unknown))}: no such row",
                             note=f"there are: {', '.join(rows.BY_NAME)}")
    # Everything is compared with the base.
    return [row for row in present if row.name in wanted | {rows.BASE}]


def main() -> int:
    args = parse()
    return command.end(lambda: run(args), "bench/race")


if __name__ == "__main__":
    sys.exit(main())
