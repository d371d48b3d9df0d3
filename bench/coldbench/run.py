"""bench/run: builds the variants of a workload, measures them, and judges the figures."""

import argparse
import sys
from pathlib import Path

from frontload.base import errors
from frontload.base.files import write_if_changed
from rich.console import Console

from coldbench import bench, command
from coldbench.show import document as report
from coldbench.variants import workload

ROOT = Path(__file__).parents[2]


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Build the variants of a real program, measure them from "
        "cold on a device of their own (needs root), and compare them.")
    parser.add_argument("workload", help="a folder of bench/workloads (cc1, cc1-heldout, "
                        "cc1-library), or any such folder")
    parser.add_argument("--runs", metavar="N", type=int, default=10,
                        help="rounds of each kind (default %(default)s)")
    parser.add_argument("--link-runs", metavar="N", type=int, default=5,
                        help="timed links of each linker (default %(default)s)")
    parser.add_argument("--no-links", action="store_true",
                        help="neither time links nor compare linked files")
    parser.add_argument("--variants", metavar="NAME,...", help="only these (default: all)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default WORKLOAD.result.json in the work "
                        "folder)")
    parser.add_argument("--no-verdict", action="store_true",
                        help="do not judge the required figures")
    parser.add_argument("--no-device", action="store_true",
                        help="measure in the work folder, as without root")
    parser.add_argument("--build-dir", metavar="DIR", type=Path, default=ROOT / "build",
                        help="where Frontload was built (default %(default)s)")
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where variants are built (default: bench/cc1 in --build-dir for "
                        "all that measure cc1, otherwise bench/WORKLOAD)")
    parser.add_argument("--llvm", metavar="DIR", type=Path, default=Path("/usr/lib/llvm-22"),
                        help="the LLVM to link with (default %(default)s)")
    args = parser.parse_args(argv)
    if args.runs < 1 or args.link_runs < 1:
        parser.error("--runs and --link-runs are numbers from 1 up")
    return args


def run(args: argparse.Namespace) -> int:
    described, source = workload.load(args.workload)
    variants = tuple(args.variants.split(",")) if args.variants else described.variants
    unknown = set(variants) - set(described.variants)
    if unknown:
        raise errors.Failure(f"--variants: {', '.join(sorted(unknown))}: no such variant",
                             note=f"there are: {', '.join(described.variants)}")
    work = workload.work_folder(described, source, args.build_dir, args.llvm, args.work_dir)

    with Console(stderr=True).status("") as status:
        def progress(doing: str) -> None:
            status.update(doing)
        result = bench.run(work, variants, runs=args.runs, progress=progress,
                           link_runs=0 if args.no_links else args.link_runs,
                           device=not args.no_device)
    document = report.to_json(result, judged=not args.no_verdict)
    file = args.json or work.folder / f"{described.name}.result.json"
    write_if_changed(file, report.dump(document))
    report.print_report(document)
    print(f"every run is in {file}")
    failed = any(verdict["holds"] is False for verdict in document["verdicts"])
    return errors.EXIT_VERDICT if failed else errors.EXIT_OK


def main() -> int:
    args = parse()
    return command.end(lambda: run(args), "bench/run")


if __name__ == "__main__":
    sys.exit(main())
