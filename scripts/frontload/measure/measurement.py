"""The results of a measurement: every run, and facts about its files and the machine."""

from collections.abc import Callable
from dataclasses import dataclass, field

from frontload.base.missing import Missing
from frontload.machine.host import Host, Place
from frontload.measure.conditions import WARM, FileState, all_known
from frontload.measure.launcher import Sample
from frontload.measure.on_device import OwnDevice
from frontload.measure.plan import Plan
from frontload.pagecache.residency import Residency


@dataclass(frozen=True)
class Run:
    variant: str
    condition: str
    round: int
    position: int  # within the round
    sample: Sample
    files: dict[str, FileState]
    outputs: dict[str, str] = field(default_factory=dict)  # SHA-256, or "missing"

    def total(self, figure: Callable[[Residency], int]) -> int | None:
        """A figure of the read pages, summed over the files; None if unknown for one."""
        read = all_known([state.read for state in self.files.values()])
        return None if read is None else sum(map(figure, read))

    @property
    def label(self) -> str:
        """The condition that the run really met."""
        before = all_known([state.before for state in self.files.values() if state.named])
        if before is None:
            return f"{self.condition}, not verified"
        if self.condition != WARM and any(residency.resident_pages for residency in before):
            return "not cold"
        return self.condition


@dataclass(frozen=True)
class Measurement:
    plan: Plan
    runs: list[Run]
    places: dict[str, Place]
    host: Host
    device: OwnDevice | None = None
    missing: list[Missing] = field(default_factory=list)

    def of(self, variant: str, condition: str) -> list[Run]:
        """The runs of one variant in the order of rounds."""
        return [run for run in self.runs if (run.variant, run.condition) == (variant, condition)]

    def differing_outputs(self) -> list[str]:
        """The compared outputs that differed between runs."""
        return [output for output in self.plan.compare
                if len({run.outputs[output] for run in self.runs}) > 1]
