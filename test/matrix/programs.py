"""The C++ program of the matrix, and its objects: made once per compiler, optimisation and version.

tabula has two versions: the folder programs/tabula, and that with programs/tabula-2.patch. Objects
of the second version that no changed file goes into are those of the first, as in any build.
"""

import filecmp
import functools
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from compiled import command_key, kept

SOURCES = Path(__file__).parent / "programs"
EXPECTED = (SOURCES / "tabula" / "expected.txt").read_text()
JOBS = 2
_ALWAYS = ("-std=c++17", "-g0", "-ffunction-sections", "-fdata-sections")


def call(*command, code: int | None = 0, **options) -> subprocess.CompletedProcess:
    """Runs a command, which has to exit with `code` (None: as it likes)."""
    result = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True,
                            timeout=300, **options)
    assert code is None or result.returncode == code, (
        f"{' '.join(map(str, command))}\nexit {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def sources(program: str, version: int) -> Path:
    """The folder of a program's sources."""
    patch = SOURCES / f"{program}-2.patch"

    def make(folder: Path) -> None:
        shutil.copytree(SOURCES / program, folder, dirs_exist_ok=True)
        if version == 2:
            call("patch", "-p1", "--batch", "--quiet", "--no-backup-if-mismatch", "--fuzz=0", "-d",
                 folder, "-i", patch)

    return kept(make, "sources", SOURCES / program, *[patch] * (version == 2))


@dataclass(frozen=True)
class Optimisation:
    """A way to compile."""

    name: str
    flags: tuple[str, ...]
    is_lto: bool = False
    is_trained: bool = False  # by profile-guided optimisation


O0 = Optimisation("O0", ("-O0",))
O2 = Optimisation("O2", ("-O2",))
LTO = Optimisation("LTO", ("-O2", "-flto"), is_lto=True)
THIN = Optimisation("ThinLTO", ("-O2", "-flto=thin"), is_lto=True)
PGO = Optimisation("PGO", ("-O2",), is_trained=True)


@dataclass(frozen=True)
class Program:
    """One version of a program, compiled but not linked."""

    compiler: str
    link_command: tuple  # the driver, and what it needs
    objects: tuple[Path, ...]
    expected: str  # what it writes with --all
    is_lto: bool = False

    def link(self, output: Path, *flags, code: int | None = 0) -> subprocess.CompletedProcess:
        return call(*self.link_command, *flags, *self.objects, "-o", output, code=code,
                    cwd=output.parent)


class Builds:
    """What is compiled, once for all processes that run tests."""

    def __init__(self, llvm: Path):
        self._llvm = llvm
        self._drivers = {"gcc": Path("g++"), "clang": llvm / "clang++"}
        self.program = functools.cache(self._program)
        self._objects = functools.cache(self._make_objects)
        self._sources = functools.cache(functools.partial(sources, "tabula"))
        self._training = functools.cache(self._train)

    def _program(self, compiler: str, optimisation: Optimisation, version: int) -> Program:
        # With LTO it is the link that compiles.
        flags = (*_ALWAYS, *optimisation.flags) if optimisation.is_lto else ()
        return Program(compiler, (self._drivers[compiler], *flags, "-pthread"),
                       self._objects(compiler, optimisation, version), EXPECTED,
                       optimisation.is_lto)

    def _make_objects(self, compiler: str, optimisation: Optimisation,
                      version: int) -> tuple[Path, ...]:
        flags, inputs = optimisation.flags, ()
        if optimisation.is_trained:
            training, inputs = self._training(compiler)
            flags += training
        same = self._unchanged(self._objects(compiler, optimisation, 1)) if version == 2 else {}

        def make(folder: Path) -> None:
            for path in inputs:
                shutil.copy(path, folder)
            self._compile(compiler, flags, version, folder, same)

        made = self._kept(make, compiler, flags, version, *inputs)
        return tuple(same.get(name, made / name) for name in self._names(version))

    def _kept(self, make, compiler: str, flags: tuple[str, ...], version: int, *inputs) -> Path:
        return kept(make, "objects", *command_key([self._drivers[compiler], *_ALWAYS, *flags]),
                    *(self._sources(each) for each in range(1, version + 1)), *inputs)

    def _names(self, version: int) -> list[str]:
        """The objects of a version."""
        return [f"{source.stem}.o" for source in sorted(self._sources(version).glob("*.cpp"))]

    def _unchanged(self, before: tuple[Path, ...]) -> dict[str, Path]:
        """Of the first version's objects those that the second has, too, by name."""
        old, new = self._sources(1), self._sources(2)
        same = {path.name for path in old.iterdir()
                if (new / path.name).exists() and filecmp.cmp(path, new / path.name, shallow=False)}
        changed = {path.name for path in [*old.iterdir(), *new.iterdir()]} - same
        return {path.name: path for path in before
                if not changed & {Path(word).name for word in
                                  path.with_suffix(".d").read_text().split()}}

    def _compile(self, compiler: str, flags: tuple[str, ...], version: int, folder: Path,
                 same: dict[str, Path]) -> None:
        """Compiles a version's objects into `folder`, but for those that are the `same`."""
        def compile_one(name: str) -> None:
            # In its folder, by its bare name: gcc finds its training by it.
            call(self._drivers[compiler], *_ALWAYS, *flags, "-MMD", "-c",
                 self._sources(version) / Path(name).with_suffix(".cpp"), "-o", name, cwd=folder)

        with ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(compile_one, [n for n in self._names(version) if n not in same]))

    def _train(self, compiler: str) -> tuple[tuple[str, ...], tuple[Path, ...]]:
        """Trains version 1 by a start; returns flags, and files that belong beside the objects.
        Version 2 is compiled with the same training, as builds do between trainings."""
        generate = ("-O2", "-fprofile-generate")

        def make(folder: Path) -> None:
            self._compile(compiler, generate, 1, folder, {})
            call(self._drivers[compiler], "-fprofile-generate", "-pthread", *self._names(1), "-o",
                 "tabula", cwd=folder)
            call(folder / "tabula", cwd=folder)
            if compiler == "clang":
                call(self._llvm / "llvm-profdata", "merge", "-o", folder / "tabula.profdata",
                     *folder.glob("*.profraw"))

        folder = self._kept(make, compiler, generate, 1)
        if compiler == "gcc":
            return (("-fprofile-use", "-Wno-missing-profile", "-Wno-coverage-mismatch"),
                    tuple(sorted(folder.glob("*.gcda"))))
        return (f"-fprofile-use={folder / 'tabula.profdata'}", "-Wno-profile-instr-out-of-date",
                "-Wno-profile-instr-unprofiled", "-Wno-backend-plugin"), ()
