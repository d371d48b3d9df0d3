"""bench/giant: links of more sections and symbols than any program has, by both linkers, in pairs.

The objects are generated (variants/giants.py): 1.6 GB for all of them, and as much for the files
that are linked, one at a time. With --scale 0.1 it is a tenth.
"""

import argparse
import os
import shlex
import sys
from pathlib import Path

from frontload.base import errors
from frontload.measure.launcher import Launcher, Sample

from coldbench import command
from coldbench.measure.links import LINKERS, Links, link_in_pairs, run_link
from coldbench.show import document, terminal
from coldbench.variants import giants


def _scale(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0
    if not 0.001 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0.001 to 1")
    return share


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/giant", description="Link more sections and symbols than any program has, by "
        "ld.lld and by ld.frontload, and compare time and memory in pairs.")
    parser.add_argument("--scale", metavar="SHARE", type=_scale, default=1.0,
                        help="so much of each giant (default %(default)s)")
    parser.add_argument("--pairs", metavar="N", type=command.at_least(1), default=5,
                        help="pairs of links (default %(default)s)")
    parser.add_argument("--only", metavar="NAME,...",
                        help=f"of {', '.join(giant.name for giant in giants.GIANTS)}")
    parser.add_argument("--threads", metavar="N", type=command.at_least(1),
                        help="threads of each linker (default: what it takes)")
    command.add_build_options(parser)
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where giants are made (default: bench/giant in --build-dir)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default giant.result.json in the work folder)")
    return parser.parse_args(argv)


def link(giant: giants.Giant, folder: Path, programs: dict[str, Path], options: list[str],
         pairs: int, progress) -> Links:
    launcher = Launcher()

    def run(linker: str) -> Sample:
        own = ["--startup-profile=giant.startup"] if linker == "ld.frontload" else []
        try:
            return run_link(folder, giant.name, shlex.join(
                [str(programs[linker]), "-o", "linked", "@inputs", *options, *own]), launcher)
        finally:
            (folder / "linked").unlink(missing_ok=True)

    return link_in_pairs(run, pairs, progress)


def run(args: argparse.Namespace) -> int:
    build = args.build_dir.resolve()
    folder = (args.work_dir or build / "bench" / "giant").resolve()
    names = command.choose("--only", args.only, [giant.name for giant in giants.GIANTS], "giant")
    programs = dict(zip(LINKERS, (args.llvm / "bin" / "ld.lld", build / "bin" / "ld.frontload"),
                        strict=True))
    options = [f"--threads={args.threads}"] if args.threads else []
    measured = []
    os.environ["FRONTLOAD_BINDIR"] = str(build / "bin")
    for giant in (giant for giant in giants.GIANTS if giant.name in names):
        with command.progress() as progress:
            progress(f"make {giant.title}")
            giants.make(giant, folder / giant.name, args.scale)
            found = link(giant, folder / giant.name, programs, options, args.pairs, progress)
        measured.append({"name": giant.name, "title": giant.title, "links": found.to_json()})
        print(giant.title + ("" if args.scale == 1 else f", scaled by {args.scale:g}"))
        terminal.show_links(measured[-1]["links"])
    file = args.json or folder / "giant.result.json"
    document.write(file, document.head(document.GIANT, scale=args.scale) | {"giants": measured})
    print(f"every link is in {file}")
    return errors.EXIT_OK


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    return command.end(lambda: run(args), "bench/giant")


if __name__ == "__main__":
    sys.exit(main())
