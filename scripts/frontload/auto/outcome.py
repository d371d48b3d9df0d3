"""What a trial is to do, what came of it, and whether the front is worth it: by counts of what a
cold start reads, on a disk, and by the peak memory of a warm one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from frontload.auto import programs
from frontload.auto.link_command import LinkCommand
from frontload.auto.linker_options import Hindrance
from frontload.auto.objects import Sections
from frontload.auto.own_libraries import Library
from frontload.auto.workload import Comparison, Workload
from frontload.base.missing import Missing
from frontload.base.ready import Ready
from frontload.device import kinds
from frontload.device.kinds import Device
from frontload.measure.conditions import SELECTIVELY_COLD, WARM
from frontload.measure.prediction import Document
from frontload.profile import coverage

if TYPE_CHECKING:
    from frontload.measure.measurement import Measurement
    from frontload.measure.prediction import Figures as Predicted
    from frontload.measure.results import Figure

    Figures = dict[str, Figure]

DISK = "hdd"  # fronts are judged on this device
# A front is worth it if reads take at most this share of their time.
_LESS_TIME = 0.9
# Memory alone is worth a front if the peak falls to this share, and by this number of bytes.
_LESS_MEMORY, _LEAST_MEMORY = 0.9, 1_000_000


@dataclass(frozen=True)
class Plan:
    program: str
    workloads: tuple[Workload, ...]
    profile: str  # the path to write it to
    output: str  # the path of the program with a front
    recordings: int = 3
    training: tuple[str, ...] = ()  # shell commands, in which each process of the program is a run
    data: bool | None = None  # None: if valgrind is available
    modules: tuple[str, ...] = ()
    until: str | None = None  # a function
    ready: Ready | None = None  # otherwise
    prefetch: bool = False
    min_match: float = 80.0
    min_coverage: float = 95.0
    runs: int = 10  # of the measurement; 0: do not measure
    device: Device | None = None  # a separate device to measure on
    beside: tuple[str, ...] = ()  # files that the program needs beside it there
    compare: bool = True
    keep: str | None = None  # a folder for traces and map
    built_in: str | None = None  # the folder of the build command, if one was given
    own_libraries: tuple[Library, ...] = ()  # that get a front as well

    @property
    def library_folder(self) -> str:
        """The folder for the libraries with fronts: it can be in LD_LIBRARY_PATH."""
        return f"{self.output}.lib"

    @property
    def ready_unrecorded(self) -> Ready | None:
        """The end of startup in unrecorded runs."""
        return replace(self.ready or Ready(), function=self.until) if self.until else self.ready

    @property
    def has_end(self) -> bool:
        """Whether startup ends before the program does."""
        return self.ready_unrecorded is not None and self.ready_unrecorded.can_be_seen

    def record_options(self) -> tuple[str, ...]:
        """The options of `frontload record` that record the same."""
        ready = self.ready or Ready()
        # With --until alone, the program would keep running.
        ends = [f"--until={self.until}", f"--timeout={ready.timeout:g}"] if self.until else []
        return tuple(dict.fromkeys([*ends, *ready.options()]))


@dataclass
class Outcome:
    link: LinkCommand
    sections: Sections
    hindrances: list[Hindrance]
    before: programs.Program
    after: programs.Program = field(init=False)
    names: int = 0
    trained: int = 0  # runs in the training commands
    has_data: bool = False
    report: coverage.Report = field(init=False)
    comparisons: list[Comparison] = field(default_factory=list)
    measurement: "Measurement | None" = None
    prediction: Document | None = None  # of the program and its own libraries
    suite: Document | None = None  # the same, of the starts in the training commands, by functions
    alone: "list[Predicted] | None" = None  # of the program alone, on a disk
    libraries: dict[str, str] = field(default_factory=dict)  # profiles of modules and libraries
    missing: list[Missing] = field(default_factory=list)

    def placed(self, plan: Plan) -> bool:
        return coverage.suffices(self.report, plan.min_coverage, plan.min_match)

    def differs(self) -> bool:
        return any(each.same is False for each in self.comparisons)

    def measured(self, condition: str) -> "tuple[Figures, Figures] | None":
        """The figures of both that were measured in a condition."""
        if self.measurement is None or condition not in self.measurement.plan.conditions:
            return None
        from frontload.measure.results import figures

        before, after = (figures(self.measurement.of(name, condition))
                         for name in ("before", "after"))
        return before, after

    def measured_gain(self) -> bool | None:
        """Whether a cold start waits less for its reads here, by the counts; None if unknown."""
        both = self.measured(SELECTIVELY_COLD)
        return both and _is_worth_it(*({name: each["median"] for name, each in figures.items()}
                                       for figures in both))

    def on_disk(self, suite: bool = False) -> "list[Predicted] | None":
        """The predicted figures of both on a disk, for the command or the training commands."""
        predicted = self.suite if suite else self.prediction
        return predicted and [each["devices"][DISK] for each in predicted["variants"]]

    def slows_suite(self) -> bool:
        """Whether the starts in the training commands wait longer for their reads: the front is for
        these starts as well. Pages that are next to each other in a small program may be read
        with fewer requests than a front and what lies behind it."""
        both = self.on_disk(suite=True)
        return both is not None and both[1]["seconds"] > both[0]["seconds"]

    def predicted_gain(self) -> bool | None:
        both = self.on_disk()
        return None if both is None else _is_worth_it(*both) and not self.slows_suite()

    def memory(self) -> tuple[float, float] | None:
        """The peak memory of both in bytes, warm: what a start needs at least."""
        both = self.measured(WARM)
        return both and (both[0]["max_rss_bytes"]["median"], both[1]["max_rss_bytes"]["median"])

    def _saves_memory(self) -> bool:
        """Whether that alone is worth a front, which no start may pay for."""
        memory, disk = self.memory(), self.on_disk()
        return (memory is not None and disk is not None and not self.slows_suite()
                and memory[1] <= min(_LESS_MEMORY * memory[0], memory[0] - _LEAST_MEMORY)
                and disk[1]["seconds"] <= disk[0]["seconds"])

    def gain(self, plan: Plan) -> bool | None:
        """Whether a cold start has its pages faster: on the user's device as measured, otherwise by
        prediction, because on a device that reads megabytes ahead no layout makes a
        difference."""
        measured, predicted = self.measured_gain(), self.predicted_gain()
        if measured is not None and (plan.device or predicted is None):
            return measured
        return self._saves_memory() if predicted is False else predicted

    def good(self, plan: Plan) -> bool:
        return self.placed(plan) and not self.differs() and self.gain(plan) is not False


def _is_worth_it(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return _seconds(before) > 0 and _seconds(after) <= _LESS_TIME * _seconds(before)


def is_less(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a start's reads take less time on a disk (fewer faults with more bytes may take
    more), or both counts are lower. Without a byte count, the faults decide."""
    return _seconds(after) < _seconds(before) or (
        after["major_faults"] < before["major_faults"]
        and after.get("read_bytes", 0) <= before.get("read_bytes", 0))


def _seconds(counts: Mapping[str, Any]) -> float:
    """What these reads take on a disk, as predicted or from the counts."""
    if "seconds" in counts:
        return counts["seconds"]
    disk = kinds.find(DISK)
    return (counts["major_faults"] / disk.iops
            + counts.get("read_bytes", 0) / disk.bytes_per_second)
