"""The C++ program of the matrix, and its objects: made once per compiler, optimisation and version.

tabula has two versions: the folder programs/tabula, and that with the files of programs/tabula-2 in
place of its own. Objects of the second version that no changed file goes into are those of the
first, as in any build.
"""

import functools
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

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
    """What is compiled in one run of the tests, in a folder of its own."""

    def __init__(self, folder: Path, llvm: Path):
        self._folder = folder
        self._llvm = llvm
        self._drivers = {"gcc": Path("g++"), "clang": llvm / "clang++"}
        self.program = functools.cache(self._program)
        self._objects = functools.cache(self._make_objects)
        self._sources = functools.cache(self._make_sources)
        self._training = functools.cache(self._train)

    def _program(self, compiler: str, optimisation: Optimisation, version: int) -> Program:
        # With LTO it is the link that compiles.
        flags = (*_ALWAYS, *optimisation.flags) if optimisation.is_lto else ()
        return Program(compiler, (self._drivers[compiler], *flags, "-pthread"),
                       self._objects(compiler, optimisation, version), EXPECTED,
                       optimisation.is_lto)

    def _make_sources(self, version: int) -> Path:
        """The folder of a version's sources."""
        folder = self._folder / f"source-{version}"
        shutil.copytree(SOURCES / "tabula", folder)
        if version == 2:
            shutil.copytree(SOURCES / "tabula-2", folder, dirs_exist_ok=True)
        return folder

    def _make_objects(self, compiler: str, optimisation: Optimisation,
                      version: int) -> tuple[Path, ...]:
        folder = self._folder / f"{compiler}-{optimisation.name}-{version}"
        folder.mkdir()
        flags = optimisation.flags
        if optimisation.is_trained:
            training, inputs = self._training(compiler)
            flags += training
            for path in inputs:
                shutil.copy(path, folder)
        before = self._objects(compiler, optimisation, 1) if version == 2 else ()
        return self._compile(compiler, flags, version, folder, before)

    def _compile(self, compiler: str, flags: tuple[str, ...], version: int, folder: Path,
                 before: tuple[Path, ...] = ()) -> tuple[Path, ...]:
        """Compiles what is not as it was for the objects `before`."""
        changed = {path.name for path in (SOURCES / "tabula-2").iterdir()}
        kept = {path.name: path for path in before
                if not changed & {Path(word).name for word in
                                  path.with_suffix(".d").read_text().split()}}

        def compile_one(source: Path) -> Path:
            name = f"{source.stem}.o"
            if name in kept:
                return kept[name]
            # In its folder, by its bare name: gcc finds its training by it.
            call(self._drivers[compiler], *_ALWAYS, *flags, "-MMD", "-c", source, "-o", name,
                 cwd=folder)
            return folder / name

        with ThreadPoolExecutor(JOBS) as pool:
            return tuple(pool.map(compile_one, sorted(self._sources(version).glob("*.cpp"))))

    def _train(self, compiler: str) -> tuple[tuple[str, ...], tuple[Path, ...]]:
        """Trains version 1 by a start; returns flags, and files that belong beside the objects.
        Version 2 is compiled with the same training, as builds do between trainings."""
        folder = self._folder / f"{compiler}-training"
        folder.mkdir()
        generate = "-fprofile-generate"
        objects = self._compile(compiler, ("-O2", generate), 1, folder)
        call(self._drivers[compiler], generate, "-pthread", *objects, "-o", "tabula", cwd=folder)
        call(folder / "tabula", cwd=folder)
        if compiler == "gcc":
            return (("-fprofile-use", "-Wno-missing-profile", "-Wno-coverage-mismatch"),
                    tuple(folder.glob("*.gcda")))
        merged = folder / "tabula.profdata"
        call(self._llvm / "llvm-profdata", "merge", "-o", merged, *folder.glob("*.profraw"))
        return (f"-fprofile-use={merged}", "-Wno-profile-instr-out-of-date",
                "-Wno-profile-instr-unprofiled", "-Wno-backend-plugin"), ()
