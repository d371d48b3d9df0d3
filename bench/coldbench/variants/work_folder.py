"""The folder in which the variants of a workload are built.

The Ninja file written here includes the workload's variants.ninja, so only outdated files are built
again, also after a change of a command line. workloads/cc1/variants.ninja lists its variables, and
the files beside it have what workloads share. Workloads that measure the same program
may share the folder, so that common files are built once.
"""

import os
import shlex
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from frontload.base.errors import Failure
from frontload.base.files import write_if_changed
from frontload.base.processes import check_call
from frontload.base.ready import Ready

from coldbench.variants.workload import (
    BENCH,
    OPENED,
    OPENER,
    RECORDED,
    WORKLOADS,
    Workload,
)

DATA_TRACES = RECORDED.traces


@dataclass(frozen=True)
class Cross:
    """Another processor that variants are built for. Their starts are recorded elsewhere."""

    flags: str  # clang's
    root: Path  # its libraries, LLVM's among them
    libraries: Path  # Frontload's for it


class WorkFolder:
    """A workload, its description's folder, its build folder, and the programs that build it."""

    def __init__(self, workload: Workload, source: Path, folder: Path, bin: Path, llvm: Path,
                 cross: Cross | None = None):
        self.workload, self.source, self.folder = workload, source, folder
        self.bin, self.llvm = bin, llvm
        folder.mkdir(parents=True, exist_ok=True)
        of_archives = cross.root / llvm.relative_to("/") if cross else llvm
        # Where libc is as well: warm, and not on the measured device.
        libraries = cross.libraries if cross else f"{bin}/../lib"
        library = f"{libraries}/libfrontload-prefetch.so"
        archives = sorted(str(archive) for pattern in ("libclang*.a", "libLLVM*.a")
                          for archive in (of_archives / "lib").glob(pattern)
                          if "Polly" not in archive.name and "clang_rt" not in archive.name)
        package = sorted((BENCH.parent / "scripts" / "frontload").rglob("*.py"))
        variables = {
            "name": workload.name, "source": str(source), "workloads": str(WORKLOADS),
            "bench": str(BENCH),
            "bin": str(bin), "llvm": str(llvm), "archives": " ".join(archives),
            "target": cross.flags if cross else "",
            "recorded": "emulated" if cross else "recorded",
            "prefetch_library": library,
            "prefetch": f"{'' if cross else '-Wl,--front-prefetch '}-Wl,-rpath,{libraries}",
            "last_library": f"-Wl,--no-as-needed,{library}" if cross else "",
            "arguments": self._training(workload.arguments),
            "before": shlex.join(workload.before),
            "until": shlex.join(ready.options() if (ready := self.ready("training.out")) else ()),
        }
        variables |= {f"arguments.{name}": self._training(arguments)
                      for name, arguments in workload.training.items()}
        for path in (BENCH, bin, folder):
            if " " in str(path):
                raise Failure(f"{path}: the path has a space, which build files of workloads "
                              "cannot have", note="use another folder")
        lines = [f"{name} = {value}" for name, value in variables.items()]
        lines.append(f"build archives: phony {' '.join(archives)}")
        lines.append(f"build command: phony {bin}/frontload {' '.join(map(str, package))}")
        lines.append(f"include {source}/variants.ninja")
        self._ninja = ["ninja", "-C", folder, "-f", f"{workload.name}.ninja"]
        write_if_changed(folder / f"{workload.name}.ninja", ("\n".join(lines) + "\n").encode())

    def fill_in(self, words: Iterable[str], output: Path | str) -> list[str]:
        """The words of a workload, with values for {llvm}, {output} and the like."""
        places = {"llvm": self.llvm, "source": self.source, "output": output, "work": self.folder,
                  "bin": self.bin}
        return [word.format(**places) for word in words]

    def _training(self, arguments: Iterable[str]) -> str:
        return shlex.join(self.fill_in(arguments, "training.out"))

    def command(self, variant: str, binary: Path, output: Path) -> tuple[str, ...]:
        """The measured command of a variant whose file is `binary`."""
        opener = OPENED[variant].opener if variant in OPENED else ()
        return (*self.workload.before, *self.fill_in(opener, output), str(binary),
                *self.fill_in(self.workload.arguments, output))

    def ready(self, output: Path | str) -> Ready | None:
        """The end of the startup of a server, whose answer goes to `output`."""
        ready = self.workload.ready
        return ready and replace(ready, request=" ".join(self.fill_in([ready.request], output)))

    def binary(self, variant: str) -> Path:
        """The measured file: it is evicted, and its pages are looked at."""
        file = OPENED[variant].variant if variant in OPENED else variant
        return self.folder / self.target(file)

    def target(self, name: str) -> str:
        """Ninja's name of a variant, or of another product of the program."""
        return f"{self.workload.name}.{name}"

    def targets(self, variants: Iterable[str]) -> list[str]:
        """The targets to build for variants, each once."""
        variants = list(variants)
        wanted = [self.binary(variant).name for variant in variants]
        wanted += ["opener" for variant in variants
                   if variant in OPENED and OPENER in OPENED[variant].opener]
        return list(dict.fromkeys(wanted))

    @contextmanager
    def environment(self) -> Iterator[None]:
        """Within `with`, commands have the workload's environment."""
        before = dict(os.environ)
        os.environ.update(self.workload.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def build(self, targets: Iterable[str]) -> None:
        """Builds them in turn: a link of a large program fills the memory and the processors."""
        with self.environment():
            check_call([*self._ninja, "-j1", *dict.fromkeys(targets)])

    def build_command(self, target: str) -> str:
        """The shell command that builds a target, to be run in the work folder."""
        found = subprocess.run([*self._ninja, "-t", "commands", "-s", target],
                               capture_output=True, text=True, check=True)
        return found.stdout.strip()


def work_folder(workload: Workload, source: Path, build_dir: Path, llvm: Path,
                folder: Path | None = None, cross: Cross | None = None) -> WorkFolder:
    """A workload's folder, by default in `build_dir`, where Frontload was built: this process also
    finds the programs there."""
    bin = (build_dir / "bin").resolve()
    os.environ["FRONTLOAD_BINDIR"] = str(bin)
    folder = folder or build_dir / "bench" / workload.folder_name
    return WorkFolder(workload, source, folder.resolve(), bin, llvm.resolve(), cross)
