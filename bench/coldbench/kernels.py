"""bench/kernels: cold starts on Debian's kernels and their file systems, beside their predictions.

QEMU emulates the machines, since counts need no speed, with a processor like this one or with
arm64's. For the latter, programs are cross-built, and their starts are recorded in such a machine.
Results of other kernels or file systems that the file already has are kept, so a run can be
continued. The page is written beside it: with --json docs/reference/kernels.json, that of the
documentation.
"""

import argparse
import json
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from frontload.base import errors, processes
from frontload.base.files import write_if_changed
from frontload.cli.arguments import count
from frontload.measure import prediction
from frontload.profile import trace
from frontload.reading import asked, planning

from coldbench import command
from coldbench.measure import machine
from coldbench.show import document, kernels_page
from coldbench.variants import workload
from coldbench.variants.work_folder import DATA_TRACES, Cross, WorkFolder, work_folder

VARIANTS = tuple(kernels_page.VARIANTS)
_LIST, _CHANGED = Path("/list"), "CHANGED"
# Variants that start another one's file: which, and the words before it there.
_OPENED = {"front+run": ("front", ("frontload-run", "--")),
           "default+list": ("default", ("frontload-run", f"--files={_LIST}", "--"))}
# By processor.
KERNELS = {"amd64": ("bullseye", "bookworm", "trixie", "sid"),
           "arm64": ("bookworm", "trixie", "sid", "trixie:16k", "sid:16k")}


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/kernels", description="Count the faults and reads of cold starts on Debian's "
        "kernels, in emulated machines, and compare them with predictions.")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", default=["cc1"],
                        help="folders of bench/workloads (default: cc1)")
    parser.add_argument("--processor", choices=KERNELS, default="amd64",
                        help="what is emulated (default %(default)s)")
    parser.add_argument("--kernels", metavar="SUITE[:16k|:64k],...",
                        help="suites of Debian, whose kernels run, and the size of their pages "
                        f"(default {','.join(KERNELS['amd64'])}; or of arm64 "
                        f"{','.join(KERNELS['arm64'])})")
    parser.add_argument("--file-systems", metavar="NAME,...",
                        default=",".join(machine.FILE_SYSTEMS),
                        help="where the programs lie (default %(default)s)")
    parser.add_argument("--read-ahead", metavar="KIB", type=count(0), action="append",
                        help="may be repeated (default: 128 and 8192)")
    parser.add_argument("--runs", metavar="N", type=count(1), default=3,
                        help="starts of each kind (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="the result (default bench/kernels.json in --build-dir)")
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where programs and machines are made (default: bench in --build-dir)")
    command.add_build_options(parser)
    return parser.parse_args(argv)


def started(work: WorkFolder, processor: machine.Processor,
            variants: Sequence[str] = VARIANTS) -> list[machine.Started]:
    """The variants of a workload, and how they start there and here."""
    found = []
    for name in variants:
        file, opener = _OPENED.get(name, (name, ()))
        binary = work.binary(file)
        there = work.command(file, machine.DISK / binary.name, machine.OUTPUT)
        here = work.command(file, binary, work.folder / "kernels.output")
        found.append(machine.Started(name, binary, [*opener, *there], [*processor.here, *here]))
    return found


def _file(variant: str) -> str:
    """The variant whose file it starts."""
    return _OPENED.get(variant, (variant,))[0]


def _list(work: WorkFolder) -> Path:
    """A prefetch list of what the startup profile touches of lld's layout."""
    return work.folder / "kernels.list"


def make_list(work: WorkFolder, there: Path) -> None:
    """Makes the list, and writes it into `there` for the program in the machine, whose time of
    the last change is not known yet."""
    binary, made = work.binary("default"), _list(work)
    processes.check_call([work.bin / "frontload", "files", "--quiet", "--binary", binary,
                          "--output", made, work.folder / f"{work.workload.name}.startup"])
    text = made.read_text().replace(str(binary), str(machine.DISK / binary.name))
    there.write_text(re.sub(r"^(file\t.*\t)[0-9.]+(\t.*)$", rf"\1{_CHANGED}\2", text, flags=re.M))


@contextmanager
def _asked(work: WorkFolder) -> Iterator[dict[str, list[str]]]:
    """frontload-predict's options for what is asked for before a file runs, by variant."""
    binary = str(work.binary("default"))
    pages = asked.union(asked.by_lists(asked.read([str(_list(work))]), binary))
    with planning.question([planning.listed(binary, pages)]) as path:
        yield {"front+run": ["--prefetched=front"],
               "default+list": ["--prefetched=none", f"--listed={path}"]}


def _traces(work: WorkFolder, variant: str) -> Path:
    return work.folder / (DATA_TRACES if variant == "default" else f"traces.{variant}")


def predicted(work: WorkFolder, kernel: str, page_kib: int, file_system: str,
              read_ahead: int) -> dict[str, dict]:
    """The predicted figures of each variant, from its own recording if it has one."""
    options = ["--device=hdd", f"--read-ahead={read_ahead}", f"--kernel={kernel}",
               f"--page-size={page_kib}", f"--file-system={file_system}"]
    found = {}
    with _asked(work) as more:
        for name in VARIANTS:
            file = _file(name)
            recorded = file if _traces(work, file).exists() else "default"
            answer = prediction.ask(work.binary(file), trace.find(_traces(work, recorded)),
                                    work.binary(recorded), [*options, *more.get(name, ())])
            figures = prediction.medians(answer["predictions"])["hdd"]
            found[name] = {figure: figures[figure] for figure in kernels_page.FIGURES}
    return found


def counted(work: WorkFolder, machines: machine.Machine, kernel: machine.Kernel, file_system: str,
            args: argparse.Namespace) -> Iterator[dict]:
    """Rows of the document."""
    version = ".".join(kernel.version.split("-")[0].split("+")[0].split(".")[:2])
    program = machine.DISK / work.binary("default").name  # a file system has its own times
    renew = f"sed -i s/{_CHANGED}/$(changed {program})/ {_LIST}"
    starts = machines.counts(kernel, file_system, args.read_ahead, args.runs, [renew])
    for read_ahead in args.read_ahead:
        predictions = predicted(work, version, kernel.page_kib, file_system, read_ahead)
        for name in VARIANTS:
            mine = [each for each in starts
                    if (each["name"], each["read_ahead_kib"]) == (name, read_ahead)]
            yield {"workload": work.workload.name, "processor": args.processor,
                   "kernel": version, "release": kernel.version, "page_kib": kernel.page_kib,
                   "file_system": file_system, "read_ahead_kib": read_ahead, "variant": name,
                   **{figure: statistics.median_low(each[figure] for each in mine)
                      for figure in kernels_page.FIGURES},
                   "predicted": predictions[name]}


def _record(work: WorkFolder, variant: str, processor: machine.Processor, kernel: machine.Kernel,
            folder: Path) -> None:
    """Has a start of a variant recorded in a machine, once for each build of it."""
    program, traces = work.binary(variant), _traces(work, variant)
    if not traces.exists() or traces.stat().st_mtime_ns < program.stat().st_mtime_ns:
        starts = started(work, processor, [variant])
        machine.Machine(folder, starts, processor).record(kernel, traces)


def _measure(args: argparse.Namespace, file: Path, progress: Callable[[str], None]) -> dict:
    base = args.work_dir or args.build_dir / "bench"
    suites = base / "suites"
    file_systems = command.choose("--file-systems", args.file_systems, machine.FILE_SYSTEMS,
                                  "file system")
    files = list(dict.fromkeys(map(_file, VARIANTS)))
    rows = document.read(file, kernels=document.KERNELS)["rows"] if file.exists() else []
    for name in args.workloads:
        described, source = workload.load(name)
        progress(f"{name}: building the variants")
        processor, cross, place = machine.AMD64, None, described.folder_name
        if args.processor == "arm64":
            processor = machine.arm64(base / "arm64", described.packages)
            cross = Cross(f"--target=aarch64-linux-gnu --sysroot={processor.root}", processor.root,
                          processor.build / "lib")
            place += "-arm64"
        work = work_folder(described, source, args.build_dir, args.llvm, base / place, cross)
        if cross:
            for variant in files:  # of the first one's recording, the others are made
                work.build(work.targets([variant]))
                _record(work, variant, processor, machine.kernel("bookworm", suites, processor),
                        base / "recording")
        work.build([*work.targets(files), DATA_TRACES])
        with work.environment():
            machines = machine.Machine(base / "kernels", started(work, processor), processor)
            make_list(work, machines.place(_LIST))
        for suite in args.kernels.split(","):
            progress(f"{suite}: fetching the kernel")
            kernel = machine.kernel(suite, suites, processor)
            for file_system in kernel.mountable(file_systems):
                progress(f"{name}: {kernel.version}, {file_system}")
                new = list(counted(work, machines, kernel, file_system, args))
                keys = {kernels_page.key(row) for row in new}
                rows = sorted([*(row for row in rows if kernels_page.key(row) not in keys), *new],
                              key=kernels_page.key)
                result = document.head(document.KERNELS, runs=args.runs, rows=rows)
                # A line for each row.
                text = json.dumps(result).replace('{"workload": ', '\n{"workload": ') + "\n"
                write_if_changed(file, text.encode())
    return result


def run(args: argparse.Namespace) -> int:
    args.read_ahead = args.read_ahead or [128, 8192]
    args.kernels = args.kernels or ",".join(KERNELS[args.processor])
    file = args.json or args.build_dir / "bench" / "kernels.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    with command.progress() as progress:
        result = _measure(args, file, progress)
    write_if_changed(file.with_suffix(".md"), kernels_page.render(result).encode())
    print(kernels_page.summary(result["rows"]))
    return errors.EXIT_OK
