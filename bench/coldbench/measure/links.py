"""What links cost: the time of each row's link.

A link is Ninja's command for a target, run again, through the compiler driver as users link.
Linking again gives the same files, so we hide it from Ninja: every file gets its old time back. A
row's link leaves out the map that the default's writes for our profiles, because others would not
write it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from frontload.base.errors import Failure
from frontload.measure.launcher import Launcher, Sample

from coldbench.variants.work_folder import WorkFolder

# A cheap link is repeated, and its time is the median; a longer one is timed once.
CHEAP_SECONDS = 10
REPEATED = 3
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


def time_link(work: WorkFolder, targets: Iterable[str], progress: Callable[[str], None],
              launcher=None) -> dict:
    """Links the targets one after the other, all of which are one row's link; returns the seconds
    of each time, and their median."""
    launcher = launcher or Launcher()
    commands = {target: _MAP.sub("", work.build_command(target)) for target in targets}
    seconds: list[float] = []
    with work.environment():
        while not seconds or (seconds[0] < CHEAP_SECONDS and len(seconds) < REPEATED):
            progress(f"link {len(seconds) + 1} of {[*commands][-1]}")
            seconds.append(sum(_link(work, target, command, launcher).wall_ns
                               for target, command in commands.items()) / 1e9)
    return {"seconds": float(np.median(seconds)), "runs": seconds}
