"""How much slower a program is while its start is recorded, for each way that a row records it.

recorder     what is run: the program under a recorder, or a build of it that records itself
slowdown     the recorded run's wall time over that of a plain one just before it, both warm

We time only the recording itself, which users run, not its later processing.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from frontload.base.errors import Failure
from frontload.measure.launcher import Launcher

from coldbench.variants.work_folder import WorkFolder

CHEAP_SECONDS = 5
REPEATED = 3


@dataclass(frozen=True)
class Recorder:
    title: str
    program: str = "default"  # the build that is run
    # Words before it, with {bin} and {scratch}, a folder that is removed afterwards.
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


_TRACE = ("{bin}/frontload-trace", "--output={scratch}/%p", "--")
RECORDERS = {
    "breakpoints": Recorder("frontload-trace", prefix=_TRACE),
    "data": Recorder("frontload-valgrind", prefix=(
        "{bin}/frontload-valgrind", "--output={scratch}/%p", "--")),
    "temporal": Recorder("LLVM's temporal instrumentation", "recording.temporal",
                         environment={"LLVM_PROFILE_FILE": "{scratch}/%p"}),
    "clang-pgo": Recorder("clang `-fprofile-generate`", "recording.clang-pgo",
                          environment={"LLVM_PROFILE_FILE": "{scratch}/%p"}),
    "clang-pgo+breakpoints": Recorder(
        "frontload-trace of clang `-fprofile-generate`", "recording.clang-pgo", prefix=_TRACE,
        environment={"LLVM_PROFILE_FILE": "{scratch}/%p.profraw"}),
    "gcc-pgo": Recorder("gcc `-fprofile-generate`", "recording.gcc-pgo",
                        environment={"GCOV_PREFIX": "{scratch}"}),
    "gcc-pgo+breakpoints": Recorder(
        "frontload-trace of gcc `-fprofile-generate`", "recording.gcc-pgo", prefix=_TRACE,
        environment={"GCOV_PREFIX": "{scratch}"}),
    # It writes to a place fixed at build time, which is nobody's input.
    "bolt": Recorder("BOLT's instrumentation", "recording.bolt"),
}
_PLAIN = Recorder("the plain program")


def slowdown(work: WorkFolder, name: str, progress: Callable[[str], None]) -> float:
    """Runs plain and recorded by turns: once to warm up, then several times; only once if a
    recording takes long."""
    recorder = RECORDERS[name]
    progress(f"recording by {recorder.title}")
    _record(work, _PLAIN)
    first = _record(work, recorder)
    if first >= CHEAP_SECONDS:
        return first / _record(work, _PLAIN)
    pairs = [(_record(work, _PLAIN), _record(work, recorder))
             for _ in range(REPEATED)]
    plain, recorded = zip(*pairs, strict=True)
    return float(np.median(recorded) / np.median(plain))


def _record(work: WorkFolder, recorder: Recorder) -> float:
    with tempfile.TemporaryDirectory(prefix="frontload-race.") as scratch, work.environment():
        os.chmod(scratch, 0o1777)  # for a command that changes its user
        places = {"bin": work.bin, "scratch": scratch}
        program = work.folder / work.target(recorder.program)
        command = (*(word.format(**places) for word in recorder.prefix),
                   *work.command(recorder.program, program, Path(scratch) / "output"))
        os.environ.update({name: value.format(**places)
                           for name, value in recorder.environment.items()})
        sample = Launcher(ready=work.ready(f"{scratch}/output")).run(command)
    if sample.failed:
        raise Failure(f"{recorder.title}: the run {sample.how_it_ended()}: "
                      f"{sample.complaint}")
    return sample.wall_ns / 1e9
