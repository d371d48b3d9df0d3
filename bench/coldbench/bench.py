"""The bench itself: what is measured in which order, and what comes out."""

import filecmp
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from frontload import devices
from frontload.device import cold_device as loop_device
from frontload.device import throttle as throttles
from frontload.device.cold_device import ColdDevice
from frontload.device.throttle import RestedLauncher, Throttle
from frontload.errors import Failure
from frontload.measure import COLD, WARM, Measurement, Plan, Variant, measure
from frontload.measure_run import Launcher

from coldbench.links import Links, time_links
from coldbench.workload import WorkFolder

SLOW = "hdd"  # the device that the throttled runs are on


@dataclass
class Result:
    work: WorkFolder
    variants: tuple[str, ...]
    plain: Measurement | None = None
    throttled: Measurement | None = None
    links: Links | None = None
    same_files: list[tuple[str, bool]] = field(default_factory=list)
    on_device: bool = False
    missing: list[str] = field(default_factory=list)  # what was not measured, and why

    def outputs_are_identical(self) -> bool:
        runs = [run for measurement in (self.plain, self.throttled) if measurement
                for run in measurement.runs]
        return len({tuple(run.outputs.values()) for run in runs}) == 1


def run(work: WorkFolder, variants: Sequence[str], *, runs: int, link_runs: int, device: bool,
        progress: Callable[[str], None]) -> Result:
    """Builds and measures; link_runs == 0 leaves out all that is about linking."""
    result = Result(work, tuple(variants))
    progress("building the variants")
    targets = [work.binary(variant).name for variant in variants]
    comparisons = work.workload.same_files if link_runs else ()
    targets += [target for _, *pair in comparisons for target in pair]
    work.build(list(dict.fromkeys(targets)))
    if link_runs:
        if work.workload.timed_links:
            result.links = time_links(work, link_runs, progress)
        result.same_files = [
            (sentence, filecmp.cmp(work.folder / one, work.folder / other, shallow=False))
            for sentence, one, other in comparisons]
    _measure(result, runs, device, progress)
    return result


def why(problem: Failure | OSError) -> str:
    if isinstance(problem, Failure):
        return problem.message
    return f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem)


def _measure(result: Result, runs: int, device: bool, progress: Callable[[str], None]) -> None:
    work = result.work
    obstacle = loop_device.obstacle() if device else "--no-device"
    with ExitStack() as stack:
        # The work's output goes to another file system than the measured one, which is read-only.
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="frontload-bench."))
        binaries = {variant: work.binary(variant) for variant in result.variants}
        cold_device = None
        if obstacle is None:
            progress("making the device")
            try:
                cold_device = stack.enter_context(ColdDevice(work.folder, list(binaries.values())))
            except (Failure, OSError) as problem:
                obstacle = why(problem)
        if cold_device:
            result.on_device = True
            binaries = {variant: cold_device.place(file) for variant, file in binaries.items()}
        else:
            result.missing.append(f"a device of its own: {obstacle}; so cold runs are from the "
                                  "work folder's own file system, and are not judged")
        plan = make_plan(work, binaries, Path(scratch) / "output", runs)
        result.plain = measure(plan, Launcher(), progress=progress)
        if cold_device:
            _measure_throttled(result, plan, cold_device, stack, progress)
        else:
            result.missing.append("runs on a slow disk: there is no device to throttle")


def make_plan(work: WorkFolder, binaries: dict[str, Path], output: Path, runs: int) -> Plan:
    return Plan(
        tuple(Variant(variant, work.command(variant, binary, output), (str(binary),))
              for variant, binary in binaries.items()),
        conditions=(COLD, WARM), runs=runs, compare=(str(output),))


def _measure_throttled(result: Result, plan: Plan, device: ColdDevice, stack: ExitStack,
                       progress: Callable[[str], None]) -> None:
    hierarchy = throttles.hierarchy(Path("/proc/self/mountinfo").read_text())
    if hierarchy is None:
        result.missing.append("runs on a slow disk: no cgroup controller blkio or io is mounted")
        return
    slow = devices.find(SLOW)
    try:
        throttle = stack.enter_context(Throttle(
            *hierarchy, device.number, iops=slow.iops, bytes_per_second=slow.bytes_per_second))
    except OSError as problem:
        result.missing.append(f"runs on a slow disk: {why(problem)}")
        return
    slow = Plan(plan.variants, conditions=(COLD,), runs=plan.runs, warmup=0, compare=plan.compare)
    result.throttled = measure(slow, RestedLauncher(throttle.folder),
                               progress=lambda doing: progress(f"throttled {doing}"))
