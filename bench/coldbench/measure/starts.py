"""The measured starts of a workload's variants: on which device, from which state, in which order.

All variants lie on one device. They start cold and warm there, and cold once more while the kernel
throttles the device to a slow disk's speed.
"""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from frontload.base.errors import Failure
from frontload.device import cold_device as loop_device
from frontload.device import throttle as throttles
from frontload.device.cold_device import ColdDevice
from frontload.device.throttle import Throttle
from frontload.measure.conditions import SELECTIVELY_COLD, WARM
from frontload.measure.launcher import Launcher
from frontload.measure.measurement import Measurement, Run
from frontload.measure.plan import STDOUT, Plan, Variant
from frontload.measure.rounds import measure

from coldbench.measure.requests import CountingLauncher, Requests, slow_device
from coldbench.variants.work_folder import WorkFolder


@dataclass
class Starts:
    plain: Measurement | None = None
    throttled: Measurement | None = None
    on_device: bool = False
    # For each variant the requests of its cold starts on the plain device.
    requests: dict[str, list[Requests]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)  # what was not measured, and why

    @property
    def measurements(self) -> dict[str, Measurement]:
        """The measurements, by the device that they were made on."""
        return {name: measurement for name, measurement in (("plain", self.plain),
                                                            ("throttled", self.throttled))
                if measurement}

    def by_condition(self, variant: str) -> dict[str, list[Run]]:
        """The runs of a variant in the order of rounds: cold and warm ones, and cold ones on the
        slow device, if there are any."""
        found = {"cold": self.plain.of(variant, SELECTIVELY_COLD),
                 "warm": self.plain.of(variant, WARM)}
        if self.throttled:
            found["slow"] = self.throttled.of(variant, SELECTIVELY_COLD)
        return found

    def outputs_are_identical(self) -> bool:
        runs = [run for measurement in self.measurements.values() for run in measurement.runs]
        return len({tuple(run.outputs.values()) for run in runs}) == 1


def why(problem: Failure | OSError) -> str:
    if isinstance(problem, Failure):
        return problem.message
    return f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem)


def measure_starts(work: WorkFolder, variants: Sequence[str], runs: int,
                   progress: Callable[[str], None]) -> Starts:
    """Measures built variants; without a device, in the folder of their build."""
    starts = Starts()
    obstacle = loop_device.obstacle()
    with ExitStack() as stack:
        stack.enter_context(work.environment())
        # The output goes to another file system, because the measured one is read-only.
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="frontload-bench."))
        binaries = {variant: work.binary(variant) for variant in variants}
        cold_device = None
        if obstacle is None:
            progress("making the device")
            try:
                cold_device = stack.enter_context(ColdDevice(work.folder, binaries.values()))
            except (Failure, OSError) as problem:
                obstacle = why(problem)
        output = Path(scratch) / "output"
        ready = work.ready(output)
        launcher = Launcher(ready=ready)
        if cold_device:
            starts.on_device = True
            binaries = {variant: cold_device.place(file) for variant, file in binaries.items()}
            launcher = CountingLauncher(cold_device.number, ready=ready)
        else:
            starts.missing.append(f"a device of its own: {obstacle}; so cold runs are from the "
                                  "work folder's own file system, and are not judged")
        plan = Plan(tuple(Variant(variant, work.command(variant, binary, output), (str(binary),))
                          for variant, binary in binaries.items()),
                    conditions=(SELECTIVELY_COLD, WARM), runs=runs, compare=(STDOUT, str(output)),
                    ready=ready)
        starts.plain = measure(plan, launcher, progress=progress)
        if cold_device:
            starts.requests = {variant: [launcher.of(run.sample)
                                         for run in starts.plain.of(variant, SELECTIVELY_COLD)]
                               for variant in variants}
            _measure_throttled(starts, plan, cold_device, stack, progress)
        else:
            starts.missing.append("runs on a slow disk: there is no device to throttle")
    return starts


def _measure_throttled(starts: Starts, plan: Plan, device: ColdDevice, stack: ExitStack,
                       progress: Callable[[str], None]) -> None:
    hierarchy = throttles.hierarchy(Path("/proc/self/mountinfo").read_text())
    if hierarchy is None:
        starts.missing.append("runs on a slow disk: no cgroup controller blkio or io is mounted")
        return
    slow = slow_device()
    try:
        throttle = stack.enter_context(Throttle(*hierarchy, device.number, iops=slow.iops,
                                                bytes_per_second=slow.bytes_per_second))
    except OSError as problem:
        starts.missing.append(f"runs on a slow disk: {why(problem)}")
        return
    cold = replace(plan, conditions=(SELECTIVELY_COLD,), warmup=0)
    starts.throttled = measure(cold, Launcher(throttle.folder, ready=plan.ready),
                               progress=lambda doing: progress(f"throttled {doing}"))
