"""A CMake project that a test writes, configures, builds, and asks what its builds did."""

import os
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

from places import BUILD, LLVM

# Each has a function that no start runs, behind and before those that one does.
MAIN_C = """\
#include <stdio.h>
int greet(int);
int seldom(int x) { return x ? seldom(x / 2) + greet(x) : 3; }
int main(int argc, char **argv) {
  if (argc > 7)
    return seldom(argc);
  printf("%s %d\\n", argc > 1 ? argv[1] : "world", greet(argc));
  return 0;
}
"""
GREET_C = """\
int rare(int x) { return x ? rare(x - 1) * 3 : 1; }
int greet(int x) { return x + 41; }
int never(int x) { return x ? never(x - 2) * 5 : 2; }
"""
HEADER = """\
cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES C)
find_package(Frontload REQUIRED CONFIG)
"""
COMPILERS = {"gcc": "gcc", "clang": str(LLVM / "clang")}


class Project:
    """A source folder, and a build folder which need not be in it."""

    def __init__(self, source: Path, run, binary: Path | None = None, generator: str = "Ninja",
                 compiler: str = "gcc", config: str = "Release", package: Path = BUILD):
        self.source = source
        self.binary = binary or source / "build"
        self.generator, self.compiler, self.config = generator, compiler, config
        self.package = package
        # A machine may have other things to do.
        self._run = partial(run, timeout=900)
        source.mkdir(parents=True, exist_ok=True)

    def write(self, cmake: str, header: str = HEADER, **sources: str) -> "Project":
        """Writes CMakeLists.txt, main.c and greet.c, and others: name_c="text"."""
        for name, text in {"main_c": MAIN_C, "greet_c": GREET_C, **sources}.items():
            self.path(name.replace("_c", ".c")).write_text(text)
        self.path("CMakeLists.txt").write_text(header + cmake)
        return self

    def path(self, name: str) -> Path:
        return self.source / name

    def built(self, name: str) -> Path:
        """A file that the build makes."""
        folder = self.config if self.generator == "Ninja Multi-Config" else ""
        return self.binary / folder / name

    def configure(self, *arguments: str, code: int = 0, **options) -> str:
        """Configures; returns what was said, in one line (CMake wraps it by its length)."""
        result = self._run(
            "cmake", "-S", self.source, "-B", self.binary, "-G", self.generator,
            f"-DCMAKE_C_COMPILER={COMPILERS[self.compiler]}",
            f"-DCMAKE_BUILD_TYPE={self.config}",
            f"-DFrontload_DIR={self.package}/lib/cmake/Frontload",
            *arguments, code=code, **options)
        return re.sub(r"\s+", " ", result.stdout + result.stderr)

    def build(self, *targets: str, code: int = 0, **options) -> str:
        """Builds targets, or all that a build builds; returns what was said."""
        wanted = ["--target", *targets] if targets else []
        result = self._run("cmake", "--build", self.binary, "--config", self.config, "-j2", *wanted,
                           code=code, **options)
        return result.stdout + result.stderr

    def train(self, *arguments: str, target: str = "frontload-train", **options) -> str:
        self.configure("-DFRONTLOAD=record", *arguments)
        return self.build(target, **options)

    def products(self) -> dict[str, int]:
        """The objects, libraries and programs of the build folder, and when each was written."""
        return {str(path.relative_to(self.binary)): path.stat().st_mtime_ns
                for path in self.binary.rglob("*")
                if path.is_file() and not path.is_symlink() and "CMakeFiles/3." not in str(path)
                and "CMakeFiles/4." not in str(path)
                and path.open("rb").read(8)[:4] in (b"\x7fELF", b"!<ar")}

    def rebuilt_by(self, *targets: str) -> set[str]:
        """The names of the files that a build writes."""
        before = self.products()
        self.build(*targets)
        return {Path(name).name for name, time in self.products().items()
                if before.get(name) != time}

    def ninja(self, *arguments: str) -> None:
        self._run("ninja", "-C", self.binary, "-j2", *arguments)

    def explained(self) -> list[str]:
        """Ninja's reasons to build anything."""
        files = ["-f", f"build-{self.config}.ninja"] if "Multi" in self.generator else []
        said = self._run("ninja", *files, "-C", self.binary, "-d", "explain").stderr
        return [line for line in said.splitlines() if line.startswith("ninja explain:")]


def has_front(path: Path) -> bool:
    """Whether the linker has noted a front in this file."""
    said = subprocess.run([LLVM / "llvm-readelf", "--notes", path], capture_output=True, text=True,
                          check=True).stdout
    return ".note.frontload" in said


def linker(path: Path) -> str:
    """What the file's .comment says of its linker."""
    said = subprocess.run([LLVM / "llvm-readelf", "-p", ".comment", path], capture_output=True,
                          text=True, check=True).stdout
    return "LLD" if "LLD" in said else "other"


def functions(path: Path) -> list[str]:
    """The functions of a file, in the order of their addresses."""
    said = subprocess.run([LLVM / "llvm-nm", "-n", "--defined-only", path], capture_output=True,
                          text=True, check=True).stdout
    return [line.split()[2] for line in said.splitlines() if line.split()[1] in "tT"]


def names(profile: Path) -> list[str]:
    """The names in a startup profile."""
    return [line.split("\t")[5] for line in profile.read_text().splitlines()
            if line.count("\t") >= 5]


def profile_text(program: str, *names: str) -> str:
    entries = "".join(f"function\ttext\t1\t+1\t-\t{name}\n" for name in names)
    return f"frontload-startup-profile 2\nprogram {program}\nruns 1\n{entries}"


def as_nobody() -> dict:
    """Options of a process that a read-only folder stops, which root is not."""
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
