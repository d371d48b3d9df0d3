"""A file system with latency: each read takes as long as a request to a server, and many run in
parallel. Network file systems and lazily loaded container images are like this. frontload-lazyfs
(tools/lazyfs) makes it from copies of the files.
"""

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from frontload.base import processes, tools
from frontload.base.errors import Failure
from frontload.device.covering import Covering, make_mounts_private, mounts_obstacle, unmount

_MAX_TRIES = 200


def obstacle() -> str | None:
    """Why this process cannot have such a file system; None if it can."""
    if not processes.has_capability(processes.CAP_SYS_ADMIN):
        return "a file system of its own needs root"
    if tools.find_tool("frontload-lazyfs") is None:
        return "frontload-lazyfs was not built: libfuse3-dev was missing"
    if not_private := mounts_obstacle():
        return not_private
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse is missing, or not yours to use"
    return None


class LazyFiles(Covering):
    """Within `with`, `files` have copies below `mounted`. Each read takes `latency_ms`, `parallel`
    of them at once. `folder` has the copies behind them. With a `log`, nothing is read ahead, and
    the log lists the reads (tools/lazyfs)."""

    def __init__(self, folder: Path, files: Iterable[Path], *, latency_ms: int, parallel: int,
                 read_ahead_kib: int | None = None, log: Path | None = None):
        super().__init__(files, folder / "lazy")
        self._behind = folder / "files"
        self._options = [f"--latency={latency_ms}", f"--parallel={parallel}"]
        self._read_ahead_kib = read_ahead_kib
        if log:
            self._options.append(f"--log={log}")

    def _make(self) -> None:
        make_mounts_private()
        self._behind.mkdir()
        self.cleaning.callback(shutil.rmtree, self._behind, ignore_errors=True)
        self.copy(self._behind)
        self.mounted.mkdir()
        self.cleaning.callback(self.mounted.rmdir)
        self.cleaning.enter_context(processes.started(
            [*processes.ending_with_us(), tools.tool("frontload-lazyfs"), *self._options,
             self._behind, self.mounted]))
        self.cleaning.callback(unmount, self.mounted)  # ends frontload-lazyfs
        for _ in range(_MAX_TRIES):
            if os.path.ismount(self.mounted):
                break
            time.sleep(0.01)
        else:
            raise Failure(f"{self.mounted}: frontload-lazyfs did not mount it",
                          note="see what it says alone: frontload-lazyfs SOURCE MOUNTPOINT")
        device = os.stat(self.mounted).st_dev
        self.number = f"{os.major(device)}:{os.minor(device)}"
        if self._read_ahead_kib is None:
            return
        ahead = Path("/sys/class/bdi") / self.number / "read_ahead_kb"
        ahead.write_text(str(self._read_ahead_kib), "ascii")
