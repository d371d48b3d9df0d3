"""Measuring on a separate device: what is copied there, and how a command comes to use it.

We copy the named files of all variants, the user's other files (--beside), and libraries that any
of them finds relative to itself ($ORIGIN). We mount the copies in the places of the files, only for
this process and its children, so that a command runs as usual.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.files import read_text
from frontload.base.ready import Ready
from frontload.base.scratch import scratch_folder
from frontload.device import cold_device, lazy, throttle
from frontload.device.cold_device import ColdDevice
from frontload.device.covering import Covering
from frontload.device.kinds import Device
from frontload.device.lazy import LazyFiles
from frontload.device.throttle import Throttle
from frontload.elf import dependencies
from frontload.measure.launcher import Launcher
from frontload.measure.plan import Variant

_WITHOUT = "or measure without --device, where the files are"


@dataclass(frozen=True, kw_only=True)
class OwnDevice(Device):
    """A device that was made for a measurement, as its JSON has it."""

    number: str  # 7:1
    throttle: str | None  # what slows it down: a version of cgroups
    copied: list[str]  # the files there


def files_to_copy(variants: Iterable[Variant], extra: Sequence[str]) -> list[str]:
    """All files, with those in named folders, by their absolute paths."""
    found: dict[str, None] = {}
    for name in [*(file for variant in variants for file in variant.files), *extra]:
        inside = _files_in(name) if os.path.isdir(name) else [name]
        for file in inside:
            for copied in (file, *dependencies.beside(file)):
                found[os.path.abspath(copied)] = None
    return list(found)


def _files_in(folder: str) -> list[str]:
    return sorted(os.path.join(inside, name) for inside, _, names in os.walk(folder)
                  for name in names if os.path.isfile(os.path.join(inside, name)))


@contextmanager
def on_device(device: Device | None, variants: Sequence[Variant], extra: Sequence[str],
              ready: Ready | None = None, file_system: str = cold_device.EXT4,
              whole: Sequence[str] = ()) -> Iterator[tuple[Launcher, OwnDevice | None]]:
    """Within `with`, the variants' files are on this device; without a device, they stay where they
    are. So are the folders `whole`, each as a whole. Yields the launcher to run them there, and the
    device's description for the result."""
    if device is None:
        yield Launcher(end_with_us=True, ready=ready), None
        return
    is_lazy = device.latency_ms is not None
    file_system = device.image or file_system
    if obstacle := lazy.obstacle() if is_lazy else cold_device.obstacle(file_system):
        raise Failure(f"--device {device.name}: {obstacle}",
                      note=("measure as root (sudo), " if os.geteuid() else "") + _WITHOUT)
    limited = device.iops is not None or device.bytes_per_second is not None
    hierarchy = throttle.hierarchy(read_text("/proc/self/mountinfo")) if limited else None
    if limited and hierarchy is None:
        raise Failure(f"--device {device.name}: the kernel cannot slow a device down: no cgroup "
                      "controller blkio (version 1) or io (version 2) is mounted",
                      note="mount one (in a container, the host's), or use --device custom without "
                           "limits")
    files = files_to_copy(variants, [*extra, *whole])
    paths = [Path(file) for file in files]
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder("frontload-device."))
        own: Covering = stack.enter_context(LazyFiles(
            folder, paths, latency_ms=device.latency_ms or 0, parallel=device.parallel or 1,
            read_ahead_kib=device.read_ahead_kib) if is_lazy else ColdDevice(
                folder, paths, read_ahead_kib=device.read_ahead_kib, file_system=file_system))
        cgroup = None
        if hierarchy is not None:
            cgroup = stack.enter_context(Throttle(
                *hierarchy, own.number, iops=device.iops,
                bytes_per_second=device.bytes_per_second)).folder
        launcher = Launcher(cgroup, end_with_us=True, ready=ready, outside=own.outside)
        own.cover(map(Path, whole))
        yield launcher, OwnDevice(
            **vars(device), number=own.number, copied=files,
            throttle=f"cgroup v{hierarchy[0]}" if hierarchy else None)
