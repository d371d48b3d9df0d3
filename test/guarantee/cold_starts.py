"""Starts programs from cold, on a device of its own, and prints what the kernel read: called by
test_measured.py, since who makes such a device has mounts of its own afterwards.

Its argument is a folder; its input is JSON: a list of the numbers of arguments to start with, by
program. So is its output: of each start, the major faults and the bytes in memory.
"""

import json
import os
import sys
from pathlib import Path

from frontload.device.cold_device import ColdDevice
from frontload.pagecache import cache as pagecache


def start(program: Path, arguments: int) -> int:
    """The major faults of a start."""
    words = [str(program), *["-"] * arguments]
    _, status, usage = os.wait4(os.posix_spawn(program, words, os.environ), 0)
    if status:
        raise SystemExit(f"{program}: ends with {status}")
    return usage.ru_majflt


def main() -> None:
    asked = {Path(name): runs for name, runs in json.load(sys.stdin).items()}
    with ColdDevice(Path(sys.argv[1]), asked) as device:
        found: dict[str, list[tuple[int, int]]] = {}
        for program, runs in asked.items():
            copy = device.place(program)
            start(copy, runs[0])  # the dynamic linker and the libraries are in memory from here on
            for run in runs:
                pagecache.make_cold(copy)
                faults = start(copy, run)
                pagecache.settle(copy)
                found.setdefault(str(program), []).append(
                    (faults, pagecache.residency(copy).resident_bytes))
        json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
