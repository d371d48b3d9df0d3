"""What tests of measurements share: samples, and what a started measurement does and leaves."""

import os
import select
import subprocess
from contextlib import suppress
from pathlib import Path

from frontload.device import throttle
from frontload.measure.launcher import Sample


def sample(seconds: float = 0.001, status: int | None = 0, **figures) -> Sample:
    """What a launcher tells of a run; all that is not given is 0."""
    counted = dict.fromkeys(("user_us", "system_us", "major_faults", "minor_faults", "max_rss_kib",
                             "blocks_in", "voluntary_switches", "involuntary_switches"), 0)
    return Sample(**{"exit_status": status, "signal": None, "wall_ns": round(seconds * 1e9),
                     **counted, **figures})


def line_of(fifo: Path, process: subprocess.Popen) -> str:
    """The line that a program, started by `process`, writes to a FIFO, once it does."""
    reader, end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), os.pidfd_open(process.pid)
    try:
        ready, _, _ = select.select([reader, end], [], [])
        assert reader in ready, process.communicate()
        return os.read(reader, 4096).decode()
    finally:
        os.close(reader)
        os.close(end)


def left_behind(pid: int, folder: Path) -> list[str]:
    """What a measurement by this process, with all files in `folder`, has not cleaned up."""
    found = []
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):  # of another test, whose device is gone by now
            found += [str(file)] * (f"{folder}/" in file.read_text())
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines()
              if f"{folder}/" in line]
    # Not by glob(), which fails where a folder of others goes while it looks.
    found += [place for place, _, _ in os.walk("/sys/fs/cgroup")
              if os.path.basename(place) == f"{throttle.PREFIX}{pid}"]
    found += [str(file) for file in (folder / "tmp").iterdir()]
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_text(errors="replace")
            if f"{folder}/" in command and process.name != str(os.getpid()):
                found.append(f"process {process.name}: {command}")
    return found
