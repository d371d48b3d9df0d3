"""A CMake project that a test writes, configures, builds, and asks what its builds did."""

import re
import subprocess
from pathlib import Path

import abilities
from linking import profile_text
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
# No compiler is looked for: nothing is built.
NO_LANGUAGE = HEADER.replace("LANGUAGES C", "LANGUAGES NONE")
APP = """
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND app)
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
        self._run = run
        source.mkdir(parents=True, exist_ok=True)

    def write(self, cmake: str = APP, header: str = HEADER, **sources: str) -> "Project":
        """Writes CMakeLists.txt, main.c and greet.c, and others: name_c="text"."""
        for name, text in {"main_c": MAIN_C, "greet_c": GREET_C, **sources}.items():
            self.path(name.replace("_c", ".c")).write_text(text)
        self.path("CMakeLists.txt").write_text(header + cmake)
        return self

    def path(self, name: str) -> Path:
        return self.source / name

    def profile(self, target: str = "app", *functions: str) -> Path:
        """Writes a target's startup profile, of `greet` if no functions are given."""
        path = self.path(f"{target}.startup")
        path.write_text(profile_text(*(functions or ["greet"]), program=target))
        return path

    def built(self, name: str = "app") -> Path:
        """A file that the build makes."""
        folder = self.config if self.generator == "Ninja Multi-Config" else ""
        return self.binary / folder / name

    def configure(self, *arguments: str, code: int = 0) -> str:
        """Configures; returns what was said, in one line (CMake wraps it by its length)."""
        result = self._run(
            "cmake", "-S", self.source, "-B", self.binary, "-G", self.generator,
            f"-DCMAKE_C_COMPILER={COMPILERS[self.compiler]}",
            f"-DCMAKE_BUILD_TYPE={self.config}",
            f"-DFrontload_DIR={self.package}/lib/cmake/Frontload", *arguments, code=code)
        return re.sub(r"\s+", " ", result.stdout + result.stderr)

    def build(self, *targets: str, code: int = 0) -> str:
        """Builds targets, or all that a build builds; returns what was said."""
        wanted = ["--target", *targets] if targets else []
        result = self._run("cmake", "--build", self.binary, "--config", self.config, "-j2", *wanted,
                           code=code)
        return result.stdout + result.stderr

    def train(self, *arguments: str, code: int = 0) -> str:
        abilities.need("ptrace")
        self.configure("-DFRONTLOAD=record", *arguments)
        return self.build("frontload-train", code=code)

    def use(self, *arguments: str) -> str:
        """Links with the profile; returns what was said when it was configured."""
        said = self.configure("-DFRONTLOAD=use", *arguments)
        self.build()
        return said

    def install(self, prefix: Path, *arguments: str) -> Path:
        self._run("cmake", "--install", self.binary, "--prefix", prefix, *arguments)
        return prefix

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

    def is_up_to_date(self) -> bool:
        """Whether a build has nothing to do, and Ninja no reason to look further."""
        explained = []
        if "Ninja" in self.generator:
            files = ["-f", f"build-{self.config}.ninja"] if "Multi" in self.generator else []
            said = self._run("ninja", *files, "-C", self.binary, "-n", "-d", "explain").stderr
            explained = [line for line in said.splitlines() if line.startswith("ninja explain:")]
        return self.rebuilt_by() == set() and explained == []


def _said(tool: str, *arguments) -> str:
    return subprocess.run([LLVM / tool, *arguments], capture_output=True, text=True,
                          check=True).stdout


def has_front(path: Path) -> bool:
    return noted(path) > 0 and linker(path) == "LLD"


def noted(path: Path) -> int:
    """How many ranges the note of a linked file has; 0 without a note."""
    data = path.read_bytes()
    at = data.find(b"Frontload\0\0\0")
    return 0 if at < 0 else int.from_bytes(data[at + 16:at + 20], "little")


def linker(path: Path) -> str:
    return "LLD" if "LLD" in _said("llvm-readelf", "-p", ".comment", path) else "other"


def dynamic(path: Path) -> str:
    return _said("llvm-readelf", "-d", path)


def functions(path: Path) -> list[str]:
    """The functions of a file, in the order of their addresses."""
    lines = _said("llvm-nm", "-n", "--defined-only", path).splitlines()
    return [line.split()[2] for line in lines if line.split()[1] in "tT"]


def is_ordered(path: Path, *names: str) -> bool:
    """Whether a file has these functions in this order."""
    found = functions(path)
    places = [found.index(name) for name in names]
    return places == sorted(places)


def names(profile: Path) -> list[str]:
    return [line.split("\t")[5] for line in profile.read_text().splitlines()
            if line.count("\t") >= 5]
