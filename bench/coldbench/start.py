"""bench/start: the effect of a prefetch list on the start of any command, all of its files cold.

The files that the command opens lie on a separate device. The command starts from there as it is,
with all of its files requested as a whole, with a list of its touches (frontload record
--all-files), and with what frontload-run --learn has learnt of one cold start, round by round.
Before each start we verify that no page of any file is in memory. Variants of the command, such as
one with libraries that have a front, start in the same rounds, without a list and with their own.
"""

import argparse
import os
import shlex
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from frontload.base import console, errors, tools
from frontload.cli.arguments import count
from frontload.device import cold_device, kinds
from frontload.measure import seen
from frontload.measure.launcher import Launcher
from frontload.measure.on_device import on_device
from frontload.measure.plan import Variant, orders
from frontload.pagecache import cache as pagecache
from frontload.reading import blocks, listing, planning, record
from frontload.reading.listing import MAP, PAGE, PrefetchList, Touch

from coldbench import command
from coldbench.measure import requests
from coldbench.show import columns, document

AS_IT_IS, WHOLE, LIST, BY_BLOCKS = "as it is", "whole files", "list", "list by blocks"
LEARNT = "learnt"
DEVICES = "hdd", "lazy"


@dataclass(frozen=True)
class Start:
    """The cost of one start; `read`: the runs of pages that it read of each file."""

    major_faults: int
    read_bytes: int
    requests: int | None  # None where there is no block device
    wall_ns: int
    read: dict[str, dict] = field(default_factory=dict, repr=False)


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/start", description="Start a command with all of its files cold: as it is, "
        "with its files read as a whole, and with a prefetch list (needs root).")
    parser.add_argument("--devices", metavar="KIND,...",
                        help=f"where its files lie (default {','.join(DEVICES)})")
    parser.add_argument("--file-system", choices=cold_device.FILE_SYSTEMS,
                        default=cold_device.EXT4, help="what they lie in there, but on lazy "
                        "(default %(default)s)")
    parser.add_argument("--runs", metavar="N", type=count(1), default=5,
                        help="rounds on each device (default %(default)s)")
    parser.add_argument("--variant", metavar="NAME=COMMAND", action="append", default=[],
                        type=_variant, help="another command for the same start, as one argument: "
                        "with other libraries, for example; may be repeated")
    parser.add_argument("--list", metavar="FILE", type=Path,
                        help="a list of COMMAND that was recorded before (default: record one)")
    parser.add_argument("--folder", metavar="DIR", action="append", default=[],
                        type=os.path.abspath, help="a folder that lies there as a whole, so that "
                        "what is read in it can be learnt; may be repeated")
    command.add_build_dir(parser)
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/start.json in --build-dir)")
    parser.add_argument("command", metavar="COMMAND", nargs="+", help="what is started, after --")
    return parser.parse_args(argv)


def _variant(text: str) -> tuple[str, list[str]]:
    name, equals, words = text.partition("=")
    if not name or not equals or not words.strip() or name in (AS_IT_IS, WHOLE, LIST, LEARNT):
        raise argparse.ArgumentTypeError(f"{text}: is not NAME=COMMAND, or the name is taken")
    return name, shlex.split(words)


def whole(touched: PrefetchList) -> PrefetchList:
    """The list of the same files, each as a whole, one after the other."""
    found = PrefetchList(1)
    rank = 0
    for file in touched.in_order():
        pages = -(-file.size // PAGE)
        found.pages[file] = {page: Touch(rank + page, 1, MAP) for page in range(pages)}
        rank += pages
    return found


@dataclass(frozen=True)
class Way:
    """One way of the same start."""

    words: list[str]  # with frontload-run, if there is a list
    usual: list[str]  # without
    touched: Path  # the list of its touches
    planned: str  # the way of the prediction
    learns: bool = False


def ways_to_start(started: dict[str, tuple[list[str], PrefetchList]], lists: Path,
                  device: str) -> dict[str, Way]:
    """All ways: each command as it is and with its list; the first also with whole files, with what
    was learnt and, where the file system reports their places, with its list in that order."""
    found = {}
    for name, (words, touched) in started.items():
        path = lists / str(len(found))
        path.write_bytes(listing.to_bytes(touched))
        found[name] = Way(words, words, path, planning.AS_IT_IS)
        if name != AS_IT_IS:
            found[f"{name}, {LIST}"] = _by_list(words, path, device)
            continue
        files, all_of_them = touched.in_order(), lists / "whole"
        all_of_them.write_bytes(listing.to_bytes(whole(touched)))
        found[WHOLE] = _by_list(words, all_of_them, device)
        found[LIST] = _by_list(words, path, device)
        found[LEARNT] = Way([str(tools.tool("frontload-run")), "--learn", f"--device={device}",
                             "--", *words], words, path, planning.LIST, learns=True)
        if (in_order := blocks.in_order(touched, files)) != files:
            by_blocks = lists / "blocks"
            by_blocks.write_bytes(listing.to_bytes(touched, in_order))
            found[BY_BLOCKS] = _by_list(words, by_blocks, device)
    return found


def _by_list(words: list[str], path: Path, device: str) -> Way:
    return Way([str(tools.tool("frontload-run")), f"--files={path}", f"--device={device}", "--",
                *words], words, path, planning.LIST)


def measure(started: dict[str, tuple[list[str], PrefetchList]], device: str, rounds: int,
            progress: Callable[[str], None], file_system: str = cold_device.EXT4,
            folders: Sequence[str] = ()
            ) -> tuple[dict[str, list[Start]], dict[str, dict[str, int]]]:
    """The starts of each way on one kind of device, and the predictions of each."""
    opened = sorted({file for words, _ in started.values()
                     for file in seen.opened(words, Launcher(end_with_us=True), only_read=True)})
    variant = Variant("", (), tuple(opened))
    with tempfile.TemporaryDirectory() as lists, \
            on_device(kinds.find(device), [variant], (), file_system=file_system,
                      whole=folders) as (launcher, made):
        counter = Path("/sys/dev/block") / made.number / "stat"
        ways = ways_to_start(started, Path(lists), device)
        # Here, where the files lie as they will be read.
        predicted = {name: _predicted(way, device) for name, way in ways.items()}
        names, found = list(ways), {name: [] for name in ways}
        for number, order in enumerate(orders(len(names), rounds, seed=1), 1):
            for name in (names[index] for index in order):
                progress(f"{device}: {name}, round {number}")
                if ways[name].learns and (name not in found or not _learn(
                        launcher, ways[name], opened, counter, Path(lists) / "state")):
                    found.pop(name, None)
                    progress(f"{device}: nothing is learnt here: frontload-run --verbose --learn "
                             "prints why")
                    continue
                found[name].append(_cold(launcher, ways[name], opened, counter))
        return found, {name: predicted[name] for name in found}


def _predicted(way: Way, device: str) -> dict[str, int]:
    """frontload predict's figures of a way."""
    start = planning.predict([planning.Input(str(way.touched))],
                             [f"--device={device}"])["starts"][device][way.planned]
    return {figure: start[figure] for figure in ("major_faults", "requests", "read_bytes")}


def _requests(counter: Path) -> int | None:
    return requests.parse(counter.read_text())[0].reads if counter.exists() else None


def _learn(launcher: Launcher, way: Way, opened: Sequence[str], counter: Path, state: Path) -> bool:
    """One cold start, of which the next one knows. Returns whether it does: not where process 1
    does not reap orphans."""
    os.environ["XDG_STATE_HOME"] = str(state)
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    _cold(launcher, way, opened, counter)
    # The list is written when the start is over.
    for _ in range(100):
        if list(state.glob("frontload/*.files")):
            return True
        time.sleep(0.1)
    return False


def _cold(launcher: Launcher, way: Way, opened: Sequence[str], counter: Path) -> Start:
    launcher.run(way.usual)  # warms files that are on no device
    if stayed := sum(pagecache.try_to_drop(*opened)):
        raise errors.Failure(f"{stayed} pages stayed in the page cache",
                             note="end the processes that use the same files")
    before = _requests(counter)
    sample = launcher.run(way.words)
    if sample.failed:
        raise errors.Failure(sample.failure_of(way.usual[0]), code=errors.EXIT_VERDICT)
    pagecache.settle(*opened)
    resident = {file: pagecache.residency(file) for file in opened}
    made = None if before is None else _requests(counter) - before
    return Start(sample.major_faults, sum(each.resident_bytes for each in resident.values()), made,
                 sample.wall_ns, {file: {"size": each.size, "pages": each.to_text()}
                                  for file, each in resident.items() if each.resident_pages})


def _figures(start: Start) -> dict:
    found = asdict(start)
    del found["read"]
    return found


def _median(starts: Sequence[Start], figure: str) -> float:
    return statistics.median(getattr(start, figure) for start in starts)


def show(results: dict[str, dict[str, list[Start]]], predicted: dict[str, dict[str, dict]]) -> None:
    table = console.table("device", "start", "major faults", "MB read", "predicted", "requests",
                          "predicted", "s", "times", numbers=range(2, 9))
    for device, ways in results.items():
        base = _median(ways[AS_IT_IS], "wall_ns")
        for name, starts in ways.items():
            wall = _median(starts, "wall_ns")
            console.add_row(table, device, name, columns.count(_median(starts, "major_faults")),
                            columns.megabytes(_median(starts, "read_bytes")),
                            columns.megabytes(predicted[device][name]["read_bytes"]),
                            columns.count(_median(starts, "requests"))
                            if starts[0].requests is not None else "",
                            columns.count(predicted[device][name]["requests"]),
                            f"{wall / 1e9:.2f}", f"{base / wall:.1f}")
    console.show(table)


def run(args: argparse.Namespace) -> int:
    build = args.build_dir.resolve()
    os.environ["FRONTLOAD_BINDIR"] = str(build / "bin")
    devices = command.choose("--devices", args.devices or ",".join(DEVICES),
                             (*kinds.KINDS, kinds.LAZY), "kind of device")
    results, predicted = {}, {}
    with command.progress() as progress:
        started = {}
        for name, words in [(AS_IT_IS, args.command), *args.variant]:
            progress(f"{name}: recording the list")
            started[name] = words, (listing.read(args.list) if args.list and not started
                                    else record.record(words)[0])
        for device in devices:
            results[device], predicted[device] = measure(started, device, args.runs, progress,
                                                         args.file_system, args.folder)
    show(results, predicted)
    file = args.json or build / "bench" / "start.json"
    document.write(file, document.head(document.START) | {
        "file_system": args.file_system,
        "commands": {name: {"command": words, "files": len(touched.in_order()),
                            "touched_bytes": touched.size()}
                     for name, (words, touched) in started.items()},
        "starts": {device: {name: [_figures(start) for start in starts]
                            for name, starts in ways.items()}
                   for device, ways in results.items()},
        "predicted": predicted,
        # of the last round
        "read": {device: {name: starts[-1].read for name, starts in ways.items()}
                 for device, ways in results.items()}})
    print(f"all figures are in {file}")
    return errors.EXIT_OK
