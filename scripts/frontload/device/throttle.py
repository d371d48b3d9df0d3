"""A slow device, by the kernel's block throttling: a cgroup whose reads of one device are limited.

Version 1 of the cgroup interface (blkio.throttle.*) and version 2 (io.max) are both supported; a
machine offers the throttle through one of them.
"""

import os
from contextlib import suppress
from pathlib import Path

# The kernel hands out the budget in slices of 0.1 s, the first one at once: at 150 requests and 80
# MB per second, 15 requests and 8 MB. A run directly after another one gets the rest of a slice:
# the same run then took 0.04 to 0.19 s, and after a pause 0.114 to 0.123. No pause takes the first
# slice away: a run of less than 0.2 s is up to 0.1 s faster than on a real device.
PAUSE_SECONDS = 0.6
PREFIX = "frontload-throttle."
_MAX_IOPS = (1 << 32) - 1  # requests per second: version 1 keeps only 32 bits


def hierarchy(mounts: str) -> tuple[int, Path] | None:
    """The version and folder of the cgroup hierarchy that this process can throttle with, from
    mountinfo's text: a container also sees hierarchies that it cannot write to."""
    for line in mounts.splitlines():
        fields, _, tail = line.partition(" - ")
        folder = Path(fields.split()[4])
        kind, _, options = tail.split(maxsplit=2)
        if not os.access(folder, os.W_OK):
            continue
        if kind == "cgroup" and "blkio" in options.split(","):
            return 1, folder
        if kind == "cgroup2" and (folder / "cgroup.controllers").is_file() \
                and "io" in (folder / "cgroup.controllers").read_text("ascii").split():
            return 2, folder
    return None


class Throttle:
    """Within `with`, there is a cgroup `folder`; its members read the device within the limits.

    `device` is its number (7:1), `iops` are requests per second; None is no limit.
    """

    def __init__(self, version: int, parent: Path, device: str, *, iops: float | None,
                 bytes_per_second: float | None):
        self._version, self._parent, self._device = version, parent, device
        self._iops = iops and min(max(round(iops), 1), _MAX_IOPS)
        self._bytes_per_second = bytes_per_second and max(round(bytes_per_second), 1)
        self.folder = parent / f"{PREFIX}{os.getpid()}"
        self._enabled = False

    def __enter__(self) -> "Throttle":
        self._remove_stale()
        try:
            if self._version == 2:
                control = self._parent / "cgroup.subtree_control"
                if "io" not in control.read_text("ascii").split():
                    control.write_text("+io", "ascii")
                    self._enabled = True
            self.folder.mkdir()
            for name, limit in self._limits().items():
                (self.folder / name).write_text(limit, "ascii")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *problem) -> None:
        with suppress(OSError):  # what a start leaves running goes on without limits
            for member in (self.folder / "cgroup.procs").read_text("ascii").split():
                (self._parent / "cgroup.procs").write_text(member, "ascii")
        with suppress(OSError):  # the next throttle removes what is left
            self.folder.rmdir()
        if self._enabled:
            (self._parent / "cgroup.subtree_control").write_text("-io", "ascii")

    def _limits(self) -> dict[str, str]:
        """The limits to write, by file of the cgroup."""
        if self._version == 2:
            limits = {"rbps": self._bytes_per_second, "riops": self._iops}
            text = " ".join(f"{name}={limit}" for name, limit in limits.items() if limit)
            return {"io.max": f"{self._device} {text}"}
        limits = {"blkio.throttle.read_iops_device": self._iops,
                  "blkio.throttle.read_bps_device": self._bytes_per_second}
        return {name: f"{self._device} {limit}" for name, limit in limits.items() if limit}

    def _remove_stale(self) -> None:
        """Removes the cgroup of a run that was ended by SIGKILL."""
        for folder in self._parent.glob(f"{PREFIX}*"):
            if not Path("/proc", folder.name.removeprefix(PREFIX)).exists():
                with suppress(OSError):
                    folder.rmdir()
