"""How much slower a program is while its start is recorded, for each way that a row records it.

recorder     what is run: the program under a recorder, or a build of it that records itself
slowdown     the recorded run's wall time over the plain one's, both warm

Only what users run is timed: the recording itself, not what is made of it afterwards.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from frontload.errors import Failure
from frontload.measure_run import Launcher

from coldbench.workload import WorkFolder

CHEAP_SECONDS = 5
REPEATED = 3


@dataclass(frozen=True)
class Recorder:
    title: str
    program: str = "default"  # which build is run
    # What stands before it, with {bin} and {scratch}, a folder that is removed afterwards.
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


RECORDERS = {
    "breakpoints": Recorder("frontload-trace", prefix=(
        "{bin}/frontload-trace", "--output={scratch}/%p", "--")),
    "data": Recorder("frontload-lackey", prefix=(
        "{bin}/frontload-lackey", "--output={scratch}/%p", "--")),
    "temporal": Recorder("LLVM's temporal instrumentation", "recording.temporal",
                         environment={"LLVM_PROFILE_FILE": "{scratch}/%p"}),
    "clang-pgo": Recorder("clang `-fprofile-generate`", "recording.clang-pgo",
                          environment={"LLVM_PROFILE_FILE": "{scratch}/%p"}),
    "gcc-pgo": Recorder("gcc `-fprofile-generate`", "recording.gcc-pgo",
                        environment={"GCOV_PREFIX": "{scratch}"}),
    # It writes where it was told when it was made, which is nobody's input.
    "bolt": Recorder("BOLT's instrumentation", "recording.bolt"),
}


@dataclass(frozen=True)
class Recording:
    recorder: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))


def time_recording(work: WorkFolder, name: str, progress: Callable[[str], None],
                   launcher=None) -> Recording:
    """Runs a recorder once to warm it up, and then once or, if that was quick, several times."""
    launcher = launcher or Launcher()
    recorder = RECORDERS[name]
    seconds: list[float] = []
    while len(seconds) < 2 or (seconds[0] < CHEAP_SECONDS and len(seconds) <= REPEATED):
        progress(f"recording by {recorder.title}")
        seconds.append(_record(work, recorder, launcher))
        if seconds[0] >= CHEAP_SECONDS:
            return Recording(name, tuple(seconds))
    return Recording(name, tuple(seconds[1:]))


def _record(work: WorkFolder, recorder: Recorder, launcher) -> float:
    with tempfile.TemporaryDirectory(prefix="frontload-race.") as scratch, work.environment():
        places = {"bin": work.bin, "scratch": scratch}
        program = work.folder / work.target(recorder.program)
        command = (*(word.format(**places) for word in recorder.prefix),
                   *work.command(recorder.program, program, Path(scratch) / "output"))
        os.environ.update({name: value.format(**places)
                           for name, value in recorder.environment.items()})
        sample = launcher.run(command)
    if sample.failed:
        raise Failure(f"{recorder.title}: the recorded run {sample.how_it_ended()}: "
                      f"{sample.complaint}")
    return sample.wall_ns / 1e9
