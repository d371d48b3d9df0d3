"""What links cost: the time of each row's link.

A link is Ninja's command for a target, run again, through the compiler driver as users link.
Linking again gives the same files, so we hide it from Ninja: every file gets its old time back. A
row's link leaves out the map that the default's writes for our profiles, because others would not
write it.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from frontload.base.errors import Failure
from frontload.measure.launcher import Launcher, Sample
from frontload.measure.plan import orders

from coldbench.variants.work_folder import WorkFolder

# A link that takes longer is timed once.
CHEAP_SECONDS = 10
_MAP = re.compile(r"\s(-Wl,-Map|--Map)=\S+")  # of a compiler's link, and of lld's own


def _link(work: WorkFolder, target: str, command: str, launcher) -> Sample:
    with untouched(work.folder, target):
        sample = launcher.run(["sh", "-c", f'cd "$0" && {command}', str(work.folder)])
    if sample.failed:
        raise Failure(f"{target}: the link {sample.how_it_ended()}: {sample.complaint}")
    return sample


@contextmanager
def untouched(folder: Path, target: str) -> Iterator[None]:
    """Within `with`, `target` may be made again; afterwards it is its old file, or gone, and no
    file in the folder is newer than before."""
    made, aside = folder / target, folder / f"{target}.aside"
    times = {entry.path: entry.stat().st_mtime_ns for entry in os.scandir(folder)
             if entry.is_file()}
    if made.exists():
        made.rename(aside)
    try:
        yield
    finally:
        made.unlink(missing_ok=True)
        if aside.exists():
            aside.rename(made)
        for path, time in times.items():
            if os.path.exists(path) and os.stat(path).st_mtime_ns != time:
                os.utime(path, ns=(time, time))


def time_links(work: WorkFolder, rows: Mapping[str, Sequence[str]], rounds: int,
               progress: Callable[[str], None]) -> dict[str, dict]:
    """Links each row's targets one after the other, all rows in turn, in changing order. Returns
    of each row the seconds of its links, and their median."""
    launcher = Launcher()
    commands = {row: {target: _MAP.sub("", work.build_command(target)) for target in targets}
                for row, targets in rows.items()}
    seconds: dict[str, list[float]] = {row: [] for row in rows}
    names = list(rows)
    with work.environment():
        for number, order in enumerate(orders(len(names), rounds, seed=1), 1):
            for row in (names[index] for index in order):
                if number > 1 and seconds[row][0] >= CHEAP_SECONDS:
                    continue
                progress(f"link {number} of {row}")
                seconds[row].append(sum(_link(work, target, command, launcher).wall_ns
                                        for target, command in commands[row].items()) / 1e9)
    return {row: {"seconds": median(each), "runs": each} for row, each in seconds.items()}
