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
from frontload.base.errors import BadData
from frontload.base.missing import Missing
from frontload.base.scratch import scratch_folder
from frontload.faults import loading as loadings
from frontload.faults.history import History
from frontload.faults.loading import Loading
from frontload.measure.launcher import Launcher, Sample
from frontload.pagecache import cache as pagecache
from frontload.pagecache.residency import Residency
from frontload.tracing import perf, perf_records
from frontload.tracing.perf import Recorder

_SET_BY_PERF = "PATH", "PREFIX", "PERF_BUILDID_DIR", "DEBUGINFOD_URLS"
_LATER_PHASES = "phases after exec"


@dataclass(frozen=True)
class Recording:
    recorder: Recorder
    events: tuple[str, ...]
    sample: Sample
    history: History
    requests: tuple[perf_records.Request, ...] | None
    loading: Loading | None
    missing: tuple[Missing, ...]
    after: Mapping[str, Residency]  # of observed files


class Session:
    """The preparations of a command's run, so that its files can be evicted after them."""

    def __init__(self, command: Sequence[str], until: str | None, recorder: Recorder):
        self._command, self.recorder = command, recorder
        self._missing = list(recorder.missing)
        self.loading = None
        if recorder.breakpoints:
            try:
                self.loading = loadings.find(command, until)
            except BadData as problem:
                self._missing.append(Missing(_LATER_PHASES, problem.message, ""))
            except OSError as problem:
                self._missing.append(Missing(
                    _LATER_PHASES, f"{problem.filename}: {problem.strerror}", "allow ptrace and "
                    "personality; in a container: --cap-add=SYS_PTRACE, and a seccomp profile "
                    "that lets personality switch address randomisation off"))

    def run(self, launcher: Launcher, observed: Sequence[str] = ()) -> Recording:
        """Runs the command. The residency of `observed` files is looked at directly afterwards,
        because unused pages do not stay; or when the command is ready."""
        recorder = self.recorder
        after: dict[str, Residency] = {}

        def look() -> None:
            after.update(_residency(observed))

        if not recorder.works:
            sample = launcher.run(self._command, at_ready=look)
            return Recording(recorder, (), sample, History(), None, None, tuple(self._missing),
                             after)
        with scratch_folder("frontload-faults.") as folder:
            faults, requests = folder / "faults.data", folder / "requests.data"
            addresses = dict.fromkeys(milestone.address for milestone in
                                      (self.loading.milestones if self.loading else ()))
            events = (*recorder.events, *(f"mem:{address:#x}:x:u" for address in addresses))
            prefix = list(recorder.prefix)
            if self.loading:
                prefix[:0] = ["setarch", "--addr-no-randomize"]
            prefix[:0] = processes.ending_with_us()
            if recorder.requests:
                prefix += recorder.command(requests, [perf.REQUESTS], "--all-cpus")
            prefix += recorder.command(faults, events, "--count=1", "--data")
            prefix += ["env", *_environment()]
            # Ending perf ends the command: perf forwards SIGTERM.
            sample = launcher.below(*prefix).run(self._command, at_ready=look)
            # Events while a program is being ended do not belong to its startup.
            history = History(sample.wall_ns if sample.ready else None).follow(
                perf_records.read(faults))
            asked = None
            if recorder.requests:
                asked = tuple(perf_records.requests(requests))
        if history.lost:
            self._missing.append(Missing(
                f"{history.lost} records", "perf's buffers were full", "record as root, where "
                "buffers are larger" if recorder.buffer_kib < 1024 else "record again"))
        return Recording(recorder, events, sample, history, asked, self.loading,
                         tuple(self._missing), after)


def _residency(files: Sequence[str]) -> dict[str, Residency]:
    found = {}
    for file in files:
        with suppress(OSError):  # the command may have removed it
            found[file] = pagecache.settled(file)
    return found


def _environment() -> list[str]:
    """The arguments of env that undo perf's changes to the command's environment."""
    return [*(option for name in _SET_BY_PERF if name not in os.environ
              for option in ("--unset", name)),
            *(f"{name}={os.environ[name]}" for name in _SET_BY_PERF if name in os.environ)]
