"""bench/sampling: what profiles of samples are worth, beside one that breakpoints recorded.

A program is linked several times, with its functions in other orders (ld.lld --shuffle-sections);
the first time as usual. A start of each build is sampled, and its pages in order, too. Of the
samples of the first build, of the first two, and so on, profiles are made, and fronts of these.
What breakpoints tell of the usual build is the measure: how many of its names a profile has, how
many others, and how much of the gain of a front its front keeps, as predicted from the recorded
data (`frontload predict`).

A sampled start is compared with one that has the library and is not sampled, and that with one
without, round by round: the processor's time of the start, and its minor faults. So are starts of
which one in a hundred is sampled, as in production, with those without the library. To tell these
apart takes thousands of rounds.
"""

import argparse
import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from frontload.base import console, errors
from frontload.base.files import parse_json
from frontload.measure import statistics
from frontload.profile import format as profile

from coldbench import command
from coldbench.show import columns, document
from coldbench.variants import workload
from coldbench.variants.run_words import run_words
from coldbench.variants.work_folder import DATA_TRACES, WorkFolder, linked, work_folder

WORKLOADS = ("cc1", "cpython")
_BASE = "default"
_FOLDER = "sampling"  # in the work folder
_DEVICE = "hdd"
_FIGURES = ("major_faults", "read_bytes")
# A profile that is not of samples.
BREAKPOINTS = "breakpoints"
# Of the starts that are compared.
PLAIN, LIBRARY, SAMPLED, FIELD = "plain", "library", "sampled", "one_in_100"
_COMPARED = ((LIBRARY, PLAIN), (SAMPLED, LIBRARY), (FIELD, PLAIN))


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/sampling", description="Make profiles of samples of one build, of two, and so "
        "on, compare their names and fronts with those of breakpoints, and say what a sampled "
        "start costs.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=WORKLOADS,
                        help=f"of {', '.join(WORKLOADS)} (default: all)")
    parser.add_argument("--builds", metavar="N", type=command.at_least(1), default=9,
                        help="how many builds, the usual one included (default %(default)s)")
    parser.add_argument("--align", metavar="BYTES", type=command.at_least(16),
                        help="begin each function of the program's own objects at a multiple of "
                        "this in the sampled builds")
    parser.add_argument("--rounds", metavar="N", type=command.at_least(2), default=100,
                        help="starts of each kind that are compared (default %(default)s)")
    parser.add_argument("--no-page-order", action="store_true",
                        help="leave out samples with the order of pages, which need perf")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/sampling.json in --build-dir)")
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where programs are built (default: bench in --build-dir)")
    command.add_build_options(parser)
    return parser.parse_args(argv)


class Trial:
    """One program: its builds, their samples, and what is made of these."""

    def __init__(self, work: WorkFolder, align: int | None, progress: Callable[[str], None]):
        self.work, self._progress = work, progress
        self.folder = work.folder / (f"{_FOLDER}-{align}" if align else _FOLDER)
        self.folder.mkdir(exist_ok=True)
        self._link = work.build_command(work.target(_BASE))
        self._sampled_link = self._aligned(align) if align else self._link

    def _aligned(self, align: int) -> str:
        """The link, of copies of the objects in the work folder."""
        words = shlex.split(self._link)
        for number, word in enumerate(words):
            if word.endswith((".a", ".o")) and (self.work.folder / word).is_relative_to(
                    self.work.folder):
                copy = self.folder / f"{number}-{Path(word).name}"
                self._run("objcopy", "--wildcard", f"--set-section-alignment=.text.*={align}",
                          self.work.folder / word, copy)
                words[number] = str(copy)
        return shlex.join(words)

    def _run(self, *words: os.PathLike | str) -> None:
        with self.work.environment():
            run_words(words, self.work.folder)

    def build(self, number: int) -> Path:
        """The usual build is number 0; the name of the program is the same in all."""
        path = self.folder / f"build{number}" / self.work.workload.name
        usual = self.work.binary(_BASE)
        if not path.exists() or path.stat().st_mtime_ns < usual.stat().st_mtime_ns:
            path.parent.mkdir(parents=True, exist_ok=True)
            order = [f"--shuffle-sections=.text*={number}"] if number else []
            self._run(*linked(self._sampled_link, path, *order))
        return path

    def sample(self, number: int, ordered: bool) -> Path:
        folder = self.folder / f"{'ordered' if ordered else 'samples'}{number}"
        shutil.rmtree(folder, ignore_errors=True)
        order = ["--page-order"] if ordered else []
        self._run(self.work.bin / "frontload", "record", "--sample", *order, "-o", folder, "--",
                  *self.work.command(_BASE, self.build(number), self.folder / "output"))
        return folder

    def profile(self, folders: Sequence[Path]) -> Path:
        path = self.folder / "startup"
        self._run(self.work.bin / "frontload", "profile", *folders, "--program",
                  self.work.workload.name, "-o", path)
        return path

    def predicted(self, startup: Path) -> Mapping[str, float]:
        """The faults and bytes of a start with a front of this profile."""
        front, result = self.folder / "front", self.folder / "predicted.json"
        self._run(*linked(self._link, front, f"--startup-profile={startup}",
                          linker=self.work.bin / "ld.frontload"))
        self._run(self.work.bin / "frontload", "predict", self.work.folder / DATA_TRACES,
                  "--recorded", self.work.binary(_BASE),
                  f"--variant={_BASE}={self.work.binary(_BASE)}", f"--variant=front={front}",
                  f"--device={_DEVICE}", f"--json={result}")
        told = parse_json(result.read_bytes(), str(result))
        front.unlink()
        return {each["name"]: each["devices"][_DEVICE] for each in told["variants"]}

    def results(self, builds: int, orders: Sequence[bool]) -> list[dict]:
        """One for breakpoints, and one for each number of builds."""
        recorded = self.work.folder / self.work.target("functions.startup")
        true = names(recorded)
        best = self.predicted(recorded)
        found = [self._result(BREAKPOINTS, None, true, true, best, best)]
        for ordered in orders:
            folders = []
            for number in range(builds):
                self._progress(f"{self.work.workload.name}: {number + 1} of {builds} builds")
                folders.append(self.sample(number, ordered))
                startup = self.profile(folders)
                found.append(self._result("samples in order" if ordered else "samples",
                                          number + 1, names(startup), true,
                                          self.predicted(startup), best))
        return found

    def _result(self, of: str, builds: int | None, told: set, true: set, here: Mapping,
                best: Mapping) -> dict:
        figures = {name: here["front"][name] for name in _FIGURES}
        kept = {name: (here[_BASE][name] - here["front"][name])
                / (best[_BASE][name] - best["front"][name]) for name in _FIGURES}
        return {"workload": self.work.workload.name, "of": of, "builds": builds,
                "names": len(told), "of_breakpoints": len(told & true) / len(true),
                "others": len(told - true), **figures, "kept": kept,
                "without_front": {name: here[_BASE][name] for name in _FIGURES}}

    def cost(self, rounds: int) -> dict:
        """Starts of the usual build, round by round."""
        library = self.work.bin.parent / "lib" / "libfrontload-sample.so"
        folder = self.folder / "cost"
        words = self.work.command(_BASE, self.build(0), self.folder / "output")
        preloaded = {"LD_PRELOAD": str(library)}
        sampled = {**preloaded, "FRONTLOAD_SAMPLE": f"{folder}/%p"}
        kinds = {PLAIN: {}, LIBRARY: preloaded, SAMPLED: sampled,
                 FIELD: {**sampled, "FRONTLOAD_SAMPLE_EVERY": "100"}}
        taken: dict[str, list[tuple[float, int]]] = {kind: [] for kind in kinds}
        order = random.Random(1)
        for number in range(rounds + 1):
            self._progress(f"{self.work.workload.name}: start {number} of {rounds}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for kind in order.sample(sorted(kinds), len(kinds)):
                with self.work.environment():
                    found = started(words, {**os.environ, **kinds[kind]}, self.work.folder)
                if number:  # the first warms up
                    taken[kind].append(found)
        size = max(path.stat().st_size for path in folder.iterdir())
        seconds = {kind: [each[0] for each in some] for kind, some in taken.items()}
        return {"workload": self.work.workload.name, "rounds": rounds, "sample_bytes": size,
                "minor_faults": {kind: sorted(each[1] for each in some)[rounds // 2]
                                 for kind, some in taken.items()},
                **{kind: as_json(statistics.ratio(seconds[kind], seconds[base]))
                   for kind, base in _COMPARED}}


def names(path: Path) -> set[tuple[bytes, bytes]]:
    """The functions of a profile. The object of a local one is known where a map was given only."""
    return {(name.name, name.file) for name in profile.read(path).touches
            if name.kind == "function"}


def as_json(interval: statistics.Interval) -> dict:
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}


def started(words: Sequence[str], environment: Mapping[str, str],
            folder: Path) -> tuple[float, int]:
    """The processor's seconds of a start, and its minor faults."""
    process = subprocess.Popen(words, env=environment, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise errors.Failure(f"{words[0]}: ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_minflt


def show(results: Sequence[dict], costs: Sequence[dict]) -> None:
    table = console.table("program", "profile of", "builds", "names", "of breakpoints'", "others",
                          "major faults", "MB read", "gain kept: faults", "bytes",
                          numbers=range(2, 10))
    for each in results:
        console.add_row(table, each["workload"], each["of"], str(each["builds"] or ""),
                        f"{each['names']}", f"{each['of_breakpoints']:.1%}", f"{each['others']}",
                        columns.count(each["major_faults"]), columns.megabytes(each["read_bytes"]),
                        *(f"{each['kept'][name]:.1%}" for name in _FIGURES))
    console.show(table)
    table = console.table("program", "start", "minor faults", "processor time, paired ratio",
                          numbers=range(2, 4))
    for each in costs:
        for kind, base in _COMPARED:
            console.add_row(table, each["workload"], f"{kind.replace('_', ' ')} to {base}",
                            f"{each['minor_faults'][base]} to {each['minor_faults'][kind]}",
                            columns.ratio(each[kind], 3))
    console.show(table)


def run(args: argparse.Namespace) -> int:
    build = args.build_dir.resolve()
    results: list[dict] = []
    costs: list[dict] = []
    with command.progress() as progress:
        for name in args.workloads:
            described, source = workload.load(name)
            folder = args.work_dir / described.folder_name if args.work_dir else None
            work = work_folder(described, source, build, args.llvm, folder)
            work.build([*work.targets((_BASE,)), DATA_TRACES, work.target("functions.startup")])
            trial = Trial(work, args.align, progress)
            results += trial.results(args.builds, [False] if args.no_page_order else [False, True])
            costs.append(trial.cost(args.rounds))
    show(results, costs)
    file = args.json or build / "bench" / "sampling.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    document.write(file, document.head(document.SAMPLING) | {"profiles": results, "costs": costs})
    print(f"all figures are in {file}")
    return errors.EXIT_OK


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    return command.end(lambda: run(args), "bench/sampling")


if __name__ == "__main__":
    sys.exit(main())
