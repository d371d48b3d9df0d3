"""A workload: a real program, its variants, and the work they are measured at.

It is a folder with workload.py, which defines WORKLOAD, and variants.ninja, which builds
NAME.VARIANT for each variant. That Ninja file is included into the one written here, so that only
what is out of date is built again, a changed command line included. workloads/cc1/variants.ninja
says which variables it is given.
"""

import importlib.util
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from frontload.errors import Failure
from frontload.files import write_if_changed

from coldbench.processes import check_call

WORKLOADS = Path(__file__).parent.parent / "workloads"


@dataclass(frozen=True)
class Workload:
    name: str
    variants: tuple[str, ...]  # the first is the base of all comparisons
    arguments: tuple[str, ...]  # with {llvm}, {source} and {output}, the file that the work writes
    requirements: tuple = ()
    same_files: tuple[tuple[str, str, str], ...] = ()  # a sentence, and two targets that are equal
    timed_links: tuple[str, str] = ("timed.lld", "timed.frontload")


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
        self.workload, self.source, self.folder, self.llvm = workload, source, folder, llvm
        folder.mkdir(parents=True, exist_ok=True)
        archives = sorted(str(archive) for pattern in ("libclang*.a", "libLLVM*.a")
                          for archive in (llvm / "lib").glob(pattern)
                          if "Polly" not in archive.name and "clang_rt" not in archive.name)
        package = sorted((Path(__file__).parents[2] / "scripts" / "frontload").rglob("*.py"))
        variables = {
            "source": str(source), "bin": str(bin), "llvm": str(llvm),
            "archives": " ".join(archives),
            "arguments": shlex.join(self.arguments(Path("training.out"))),
        }
        lines = [f"{name} = {value}" for name, value in variables.items()]
        lines.append(f"build archives: phony {' '.join(archives)}")
        lines.append(f"build command: phony {bin}/frontload {' '.join(map(str, package))}")
        lines.append(f"include {source}/variants.ninja")
        write_if_changed(folder / "build.ninja", ("\n".join(lines) + "\n").encode())

    def arguments(self, output: Path) -> list[str]:
        places = {"llvm": self.llvm, "source": self.source, "output": output}
        return [argument.format(**places) for argument in self.workload.arguments]

    def binary(self, variant: str) -> Path:
        return self.folder / f"{self.workload.name}.{variant}"

    def build(self, targets: list[str]) -> None:
        """One after the other: a link of a large program fills the memory and the processors."""
        check_call(["ninja", "-C", self.folder, "-j1", *targets])

    def build_command(self, target: str) -> str:
        """The shell command that builds a target, to be run in the work folder."""
        found = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "-s", target],
                               capture_output=True, text=True, check=True)
        return found.stdout.strip()
