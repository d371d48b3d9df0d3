"""The time of a row's link: runs its command again as Ninja would.

A cheap link is repeated, and its time is the median; a longer one is timed once. Linking again
gives the same files, so we hide it from Ninja: every file gets its old time back. We leave out the
map that the default's link writes for our profiles, because others would not write it.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from frontload.measure.launcher import Launcher

from coldbench.measure.links import run_link
from coldbench.variants.work_folder import WorkFolder

CHEAP_SECONDS = 10
REPEATED = 3
_MAP = re.compile(r"\s(-Wl,-Map|--Map)=\S+")  # of a compiler's link, and of lld's own


@dataclass(frozen=True)
class LinkTime:
    seconds: tuple[float, ...]  # of each link

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))


def time_link(work: WorkFolder, targets: Sequence[str], progress: Callable[[str], None],
              launcher=None) -> LinkTime:
    """Links the targets one after the other: all of them are one row's link."""
    launcher = launcher or Launcher()
    commands = {target: _MAP.sub("", work.build_command(target)) for target in targets}

    def link() -> float:
        return sum(_link(work.folder, target, commands[target], launcher) for target in targets)

    with work.environment():
        progress(f"link of {targets[-1]}")
        seconds = [link()]
        while seconds[0] < CHEAP_SECONDS and len(seconds) < REPEATED:
            progress(f"link {len(seconds) + 1} of {targets[-1]}")
            seconds.append(link())
    return LinkTime(tuple(seconds))


def _link(folder: Path, target: str, command: str, launcher) -> float:
    with untouched(folder, target):
        return run_link(folder, target, command, launcher).wall_ns / 1e9


@contextmanager
def untouched(folder: Path, target: str) -> Iterator[None]:
    """Within `with`, `target` may be made again; afterwards it is its old file, and no file in the
    folder is newer than before."""
    aside = folder / f"{target}.aside"
    times = {entry.path: entry.stat().st_mtime_ns for entry in os.scandir(folder)
             if entry.is_file()}
    (folder / target).rename(aside)
    try:
        yield
    finally:
        aside.rename(folder / target)
        for path, time in times.items():
            if os.path.exists(path) and os.stat(path).st_mtime_ns != time:
                os.utime(path, ns=(time, time))
