"""Runs a command below perf, and returns what perf recorded.

There are two sessions of perf, one inside the other. The inner one follows the command's processes,
the outer one the requests of all block devices, because the kernel's own threads often issue
requests (readahead, a throttled device). The innermost program is frontload-exec, which starts and
times the command as it does for `frontload measure`.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from frontload.base import processes
from frontload.base.scratch import scratch_folder
from frontload.faults.history import History
from frontload.faults.loading import Loading
from frontload.measure.launcher import Launcher, Sample
from frontload.pagecache import cache as pagecache
from frontload.pagecache.residency import Residency
from frontload.tracing import perf, perf_records
from frontload.tracing.perf import Recorder
from frontload.tracing.perf_records import Request

_SET_BY_PERF = "PATH", "PREFIX", "PERF_BUILDID_DIR", "DEBUGINFOD_URLS"


@dataclass(frozen=True)
class Recording:
    recorder: Recorder
    events: tuple[str, ...]
    sample: Sample
    history: History
    requests: tuple[Request, ...] | None
    loading: Loading | None
    after: Mapping[str, Residency]  # of observed files


def run(command: Sequence[str], recorder: Recorder, loading: Loading | None, launcher: Launcher,
        observed: Sequence[str]) -> Recording:
    """Runs the command. The residency of `observed` files is looked at directly afterwards, because
    unused pages do not stay; or when the command is ready."""
    after: dict[str, Residency] = {}

    def look() -> None:
        for file in observed:
            with suppress(OSError):  # the command may have removed it
                pagecache.settle(file)
                after[file] = pagecache.residency(file)

    if not recorder.events:
        sample = launcher.run(command, at_ready=look)
        return Recording(recorder, (), sample, History(), None, None, after)
    with scratch_folder("frontload-faults.") as folder:
        faults, requests = folder / "faults.data", folder / "requests.data"
        addresses = dict.fromkeys(milestone.address for milestone in
                                  (loading.milestones if loading else ()))
        events = (*recorder.events, *(f"mem:{address:#x}:x:u" for address in addresses))
        prefix = [*processes.ending_with_us()]
        if loading:
            prefix += ["setarch", "--addr-no-randomize"]
        if recorder.requests:
            prefix += recorder.command(requests, [perf.REQUESTS], "--all-cpus")
        prefix += recorder.command(faults, events, "--count=1", "--data")
        prefix += ["env", *_environment()]
        # Ending perf ends the command: perf forwards SIGTERM.
        sample = launcher.below(*prefix).run(command, at_ready=look)
        # Events while a program is being ended do not belong to its startup.
        history = History(sample.wall_ns if sample.ready else None).follow(
            perf_records.read(faults))
        asked = tuple(each for each in perf_records.read(requests, has_addresses=False)
                      if isinstance(each, Request)) if recorder.requests else None
    return Recording(recorder, events, sample, history, asked, loading, after)


def _environment() -> list[str]:
    """The arguments of env that undo perf's changes to the command's environment."""
    return [*(option for name in _SET_BY_PERF if name not in os.environ
              for option in ("--unset", name)),
            *(f"{name}={os.environ[name]}" for name in _SET_BY_PERF if name in os.environ)]
