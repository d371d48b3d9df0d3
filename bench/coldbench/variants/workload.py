"""A workload: a real program, its variants, and the work that is measured.

It is a folder of bench/workloads with workload.py, which defines WORKLOAD, and variants.ninja,
which builds NAME.VARIANT for each variant (see work_folder.py).

A workload that takes part in the race (bench/race) also has `peers`: variants made with other
people's tools.
"""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.ready import Ready

BENCH = Path(__file__).parents[2].resolve()
WORKLOADS = BENCH / "workloads"


@dataclass(frozen=True)
class Opened:
    """A variant that is another one's file, requested before it is run."""

    variant: str
    opener: tuple[str, ...]  # the words before the file, with {work} and {bin}
    asks_for: str  # frontload-predict's word for it


@dataclass(frozen=True)
class Recording:
    """The starts of one of the programs, recorded once with data, in the work folder."""

    program: str  # a variant, or another target with such a name
    traces: str


RECORDED = Recording("default", "traces.data")
# In a separate program with the map of the basic blocks.
RECORDED_BLOCKS = Recording("mapped", "traces.blocks.data")
OPENER = "{work}/opener"  # of rules.ninja
OPENED = {
    "preread": Opened("default", (OPENER, "read"), "all"),
    "willneed": Opened("default", (OPENER, "willneed"), "all"),
    "front+run": Opened("front", ("{bin}/frontload-run", "--"), "front"),
}


@dataclass(frozen=True)
class Workload:
    name: str
    variants: tuple[str, ...]  # the first is the base of all comparisons
    arguments: tuple[str, ...]  # with {llvm}, {source} and {output}, the file that the work writes
    packages: tuple[str, ...] = ()  # Debian's, that it is linked with for another processor
    program: str = ""  # the program of these variants, and their build folder; or the name
    # Arguments of training runs, by their names in Ninja: ${arguments.NAME}.
    training: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Arguments of different starts, or of a server's requests: bench/heldout trains some and
    # predicts the others.
    scenarios: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Variants that are predicted from another recording than RECORDED.
    recordings: Mapping[str, Recording] = field(default_factory=dict)
    # For the race (see rows.py), each by a row's name:
    title: str = ""  # what the program is and does, in half a sentence
    peers: tuple[str, ...] = ()  # rows beyond `variants`
    absent: Mapping[str, str] = field(default_factory=dict)  # the reason for each missing row
    recorders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # if not the usual ones
    before: tuple[str, ...] = ()  # words before the program in all commands
    ready: Ready | None = None  # of a server: the end of its startup; the request may have {output}
    # Set for all runs, including training runs.
    environment: Mapping[str, str] = field(default_factory=dict)

    def recording(self, variant: str) -> Recording:
        return self.recordings.get(variant, RECORDED)

    @property
    def folder_name(self) -> str:
        """The name of its work folder: workloads of one program may share it."""
        return self.program or self.name


def load(name: str) -> tuple[Workload, Path]:
    """The workload `name` of bench/workloads, or the one in the folder `name`; with its folder."""
    found = (folder.resolve() for folder in (WORKLOADS / name, Path(name))
             if (folder / "workload.py").is_file())
    folder = next(found, None)
    if folder is None:
        known = ", ".join(sorted(entry.parent.name for entry in WORKLOADS.glob("*/workload.py")))
        raise Failure(f"{name}: is not a workload", note=f"there are: {known}")
    spec = importlib.util.spec_from_file_location(f"workload_{folder.name}",
                                                  folder / "workload.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WORKLOAD, folder
