"""A workload: a real program, its variants, and the work they are measured at.

It is a folder with workload.py, which defines WORKLOAD, and variants.ninja, which builds
NAME.VARIANT for each variant. That Ninja file is included into the one written here, so that only
what is out of date is built again, a changed command line included. workloads/cc1/variants.ninja
says which variables it is given, and workloads/rules.ninja has what workloads have in common.
Workloads that measure the same program may share the folder it is built in, so that what they have
in common is built once.

A workload that takes part in the race (bench/race) also has its `peers`: variants made by other
people's means.
"""

import importlib.util
import json
import os
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.files import write_if_changed
from frontload.base.processes import check_call

BENCH = Path(__file__).parents[2].resolve()
WORKLOADS = BENCH / "workloads"


@dataclass(frozen=True)
class Opened:
    """A variant that is another one's file, asked for before it is run."""

    variant: str
    opener: tuple[str, ...]  # what stands before the file, with {work} and {bin}
    asks_for: str  # as frontload-predict says it


_OPENER = "{work}/opener"  # of bench/openers
OPENED = {
    "preread": Opened("default", (_OPENER, "read"), "all"),
    "willneed": Opened("default", (_OPENER, "willneed"), "all"),
    "front+run": Opened("front", ("{bin}/frontload-run", "--"), "front"),
}


@dataclass(frozen=True)
class Workload:
    name: str
    variants: tuple[str, ...]  # the first is the base of all comparisons
    arguments: tuple[str, ...]  # with {llvm}, {source} and {output}, the file that the work writes
    requirements: tuple = ()
    program: str = ""  # whose variants these are, and the folder they are built in; or the name
    # Arguments of runs to train with, by the name that Ninja is to know them: ${arguments.NAME}.
    training: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # What stands before the file of a variant that is no program, with {work}, that folder.
    openers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    same_files: tuple[tuple[str, str, str], ...] = ()  # a sentence, and two targets that are equal
    timed_links: tuple[str, str] | None = None  # two targets, of LINKERS in links.py
    # For the race (see race/rows.py), each by a row's name:
    title: str = ""  # what the program is and does, in half a sentence
    peers: tuple[str, ...] = ()  # rows beyond `variants` that there are
    absent: Mapping[str, str] = field(default_factory=dict)  # why there is no such row
    recorders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # if other than usual
    # Set for all runs, those to train with included.
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder_name(self) -> str:
        """What its work folder is called: workloads of one program may share it."""
        return self.program or self.name


def load(name: str) -> tuple[Workload, Path]:
    """The workload `name` of bench/workloads, or the one in the folder `name`; with its folder."""
    folder = (WORKLOADS / name).resolve()
    file = folder / "workload.py"
    if not file.is_file():
        known = ", ".join(sorted(entry.parent.name for entry in WORKLOADS.glob("*/workload.py")))
        raise Failure(f"{name}: is not a workload", note=f"there are: {known}")
    spec = importlib.util.spec_from_file_location(f"workload_{folder.name}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WORKLOAD, folder


class WorkFolder:
    """The folder in which the variants of a workload are built."""

    def __init__(self, workload: Workload, source: Path, folder: Path, bin: Path, llvm: Path):
        self.workload, self.source, self.folder = workload, source, folder
        self.bin, self.llvm = bin, llvm
        folder.mkdir(parents=True, exist_ok=True)
        archives = sorted(str(archive) for pattern in ("libclang*.a", "libLLVM*.a")
                          for archive in (llvm / "lib").glob(pattern)
                          if "Polly" not in archive.name and "clang_rt" not in archive.name)
        package = sorted((BENCH.parent / "scripts" / "frontload").rglob("*.py"))
        variables = {
            "source": str(source), "workloads": str(WORKLOADS), "bench": str(BENCH),
            "bin": str(bin), "llvm": str(llvm), "archives": " ".join(archives),
            "arguments": self._training(workload.arguments),
        }
        variables |= {f"arguments.{name}": self._training(arguments)
                      for name, arguments in workload.training.items()}
        lines = [f"{name} = {value}" for name, value in variables.items()]
        lines.append(f"build archives: phony {' '.join(archives)}")
        lines.append(f"build command: phony {bin}/frontload {' '.join(map(str, package))}")
        lines.append(f"include {BENCH}/openers/openers.ninja")
        lines.append(f"include {source}/variants.ninja")
        self._ninja = ["ninja", "-C", folder, "-f", f"{workload.name}.ninja"]
        write_if_changed(folder / f"{workload.name}.ninja", ("\n".join(lines) + "\n").encode())

    def _fill_in(self, words: Iterable[str], output: Path | str) -> list[str]:
        places = {"llvm": self.llvm, "source": self.source, "output": output, "work": self.folder,
                  "bin": self.bin}
        return [word.format(**places) for word in words]

    def _fill_in_values(self, named: Mapping[str, str]) -> dict[str, str]:
        return dict(zip(named, self._fill_in(named.values(), ""), strict=True))

    def _training(self, arguments: Iterable[str]) -> str:
        return shlex.join(self._fill_in(arguments, "training.out"))

    def command(self, variant: str, binary: Path, output: Path) -> tuple[str, ...]:
        """What is measured of a variant whose file is `binary`."""
        opener = self.workload.openers.get(variant, ())
        if variant in OPENED:
            opener = OPENED[variant].opener
        return (*self._fill_in(opener, output), str(binary),
                *self._fill_in(self.workload.arguments, output))

    def binary(self, variant: str) -> Path:
        """The file that is measured: evicted, and looked at."""
        file = OPENED[variant].variant if variant in OPENED else variant
        return self.folder / self.target(file)

    def target(self, name: str) -> str:
        """What Ninja calls a variant, or whatever else is made of the program."""
        return f"{self.workload.name}.{name}"

    def targets(self, variants: Iterable[str]) -> list[str]:
        """What has to be built for variants, each once."""
        wanted = [self.binary(variant).name for variant in variants]
        wanted += ["opener" for variant in variants
                   if variant in OPENED and _OPENER in OPENED[variant].opener]
        return list(dict.fromkeys(wanted))

    @contextmanager
    def environment(self) -> Iterator[None]:
        """Within `with`, what is run has the workload's environment."""
        before = dict(os.environ)
        os.environ.update(self._fill_in_values(self.workload.environment))
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def front(self, variant: str) -> dict[str, int] | None:
        """The bytes of a variant's front, by what they are, if its link has left a report."""
        report = self.folder / f"{self.binary(variant).name}.json"
        if not report.is_file():
            return None
        report = json.loads(report.read_text())
        classes, front = report["classes"], report["front"]
        return {"bytes": front["bytes"], "text_bytes": classes["text"]["bytes"],
                "rodata_bytes": classes["rodata"]["bytes"] + front["strings"]}

    def build(self, targets: list[str]) -> None:
        """One after the other: a link of a large program fills the memory and the processors."""
        with self.environment():
            check_call([*self._ninja, "-j1", *targets])

    def build_command(self, target: str) -> str:
        """The shell command that builds a target, to be run in the work folder."""
        found = subprocess.run([*self._ninja, "-t", "commands", "-s", target],
                               capture_output=True, text=True, check=True)
        return found.stdout.strip()


def work_folder(workload: Workload, source: Path, build_dir: Path, llvm: Path,
                folder: Path | None = None) -> WorkFolder:
    """A workload's folder, by default in `build_dir`, where Frontload was built: its programs there
    are the ones that this process finds, too."""
    bin = (build_dir / "bin").resolve()
    os.environ["FRONTLOAD_BINDIR"] = str(bin)
    folder = folder or build_dir / "bench" / workload.folder_name
    return WorkFolder(workload, source, folder.resolve(), bin, llvm.resolve())
