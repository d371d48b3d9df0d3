"""Waits until nothing is left of what a test has started."""

import os
import time
from pathlib import Path

LONGEST_SECONDS = 60  # for what another process is about to end


def wait_until_none(link: str, begins: str) -> None:
    """Until no process has a `link` in its folder of /proc, such as exe, that leads to a path which
    begins so."""
    end = time.monotonic() + LONGEST_SECONDS
    while left := [process for process in Path("/proc").glob(f"[0-9]*/{link}")
                   if _target(process).startswith(begins)]:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:  # the process has ended
        return ""
