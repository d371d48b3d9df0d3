"""What is known about a build folder: its build system, its compilers, its targets.

Each build system has a reader (cmake_folder.py, meson_folder.py, make_folder.py, cargo_folder.py).
A reader fills in a Folder from the files that the build system leaves for other tools; it runs and
writes nothing. detect.py chooses the reader of a folder.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path

NAMES = {"cmake": "CMake", "meson": "Meson", "autotools": "Autotools", "cargo": "Cargo", "go": "Go",
         "bazel": "Bazel", "make": "make", "ninja": "Ninja", "unknown": "unknown"}
_FILE_LIMIT = 16 << 20


@dataclass(frozen=True)
class Compiler:
    language: str
    path: str
    version: str  # with its name: GNU 12.2.0


@dataclass(frozen=True)
class Target:
    """A program or shared library of the build."""

    name: str
    kind: str  # program or shared library
    output: str  # the file; empty if unknown
    defined_in: str = ""  # file
    line: int = 0


@dataclass(frozen=True)
class Flags:
    where: str
    text: str


@dataclass
class Folder:
    path: str
    system: str
    source: str = ""  # empty if unknown
    build: str = ""  # empty if there is none
    other_builds: list[str] = field(default_factory=list)
    generator: str = ""
    has_clean: bool = False  # the Makefile can remove what was built
    configured: str = ""  # the arguments of its configure script, as in a shell
    compilers: list[Compiler] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    flags: list[Flags] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict:
        return asdict(self)


def text_of(path: Path) -> str:
    """The text of a file of the build; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(_FILE_LIMIT).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
