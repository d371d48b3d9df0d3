"""What a folder is built by: recognizes build folders and source folders by the files in them.

A build folder says which sources it is of; of a source folder the build folders in it are looked
for. Each build system is read by a function that is given a Folder and fills it in, from the files
that the system itself leaves for others. Nothing is run, and nothing is written.
"""

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

_FILE_LIMIT = 16 << 20


@dataclass(frozen=True)
class Compiler:
    language: str
    path: str
    version: str  # with its name: GNU 12.2.0


@dataclass(frozen=True)
class Target:
    """Something that the build links."""

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
    compilers: list[Compiler] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    flags: list[Flags] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict:
        return asdict(self)


def text_of(path: Path) -> str:
    """The text of a file of the build; empty if there is none that can be read."""
    try:
        with open(path, "rb") as file:
            return file.read(_FILE_LIMIT).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


# What says of a folder that it was configured, and what that it has the sources.
BUILT = {"CMakeCache.txt": "cmake", "meson-info": "meson", "config.status": "autotools"}
SOURCES = {"CMakeLists.txt": "cmake", "meson.build": "meson", "configure": "autotools",
           "configure.ac": "autotools", "Cargo.toml": "cargo", "go.mod": "go",
           "MODULE.bazel": "bazel", "WORKSPACE": "bazel", "WORKSPACE.bazel": "bazel",
           "BUILD.bazel": "bazel", "GNUmakefile": "make", "Makefile": "make", "makefile": "make",
           "build.ninja": "ninja"}
NAMES = {"cmake": "CMake", "meson": "Meson", "autotools": "Autotools", "cargo": "Cargo", "go": "Go",
         "bazel": "Bazel", "make": "make", "ninja": "Ninja", "unknown": "unknown to us"}


def look(path: str) -> Folder:
    """What a folder is built by; `system` is "unknown" if we cannot tell."""
    here = Path(os.path.abspath(path))
    # A folder that was configured in place has both: what was configured tells more.
    for name, system in BUILT.items():
        if (here / name).exists():
            return _read(Folder(str(here), system, build=str(here)))
    for name, system in SOURCES.items():
        if (here / name).exists():
            builds = [build for build in _builds_below(here, system)]
            found = Folder(str(here), system, source=str(here))
            if builds:
                found.build, found.other_builds = builds[0], builds[1:]
            elif system in ("make", "ninja", "cargo"):
                found.build = str(here)
            return _read(found)
    return Folder(str(here), "unknown", build=str(here))


def of_program(program: str, link_directory: str) -> Folder:
    """The build that a program is of: the nearest folder above it, or above where it was linked,
    that was configured, or else has sources."""
    above = [folder for start in (Path(program).parent, Path(link_directory))
             for folder in (start, *start.parents)]
    for marks in (BUILT, SOURCES):
        for folder in above:
            if any((folder / name).exists() for name in marks):
                return look(str(folder))
    return look(link_directory)


def _builds_below(source: Path, system: str) -> list[str]:
    """The build folders of this system in a source folder, or beside it, that are of these
    sources; the one that was configured last is first."""
    mark = next((name for name, each in BUILT.items() if each == system), None)
    if mark is None:
        return []
    found = []
    for pattern in (f"*/{mark}", f"*/*/{mark}", f"../*/{mark}"):
        for path in sorted(source.glob(pattern)):
            folder = path.parent.resolve()
            if _is_of(folder, source, system) and str(folder) not in found:
                found.append(str(folder))
    return sorted(found, key=lambda folder: -os.stat(os.path.join(folder, mark)).st_mtime_ns)


def _is_of(folder: Path, source: Path, system: str) -> bool:
    of = _read(Folder(str(folder), system, build=str(folder))).source
    return bool(of) and os.path.realpath(of) == os.path.realpath(source)


def _read(folder: Folder) -> Folder:
    from frontload.auto import cmake_folder, meson_folder

    readers: dict[str, Callable[[Folder], None]] = {
        "cmake": cmake_folder.read, "meson": meson_folder.read, "autotools": _read_autotools,
        "make": _read_makefile, "cargo": _read_cargo}
    if folder.system in readers:
        readers[folder.system](folder)
    return folder


_VARIABLE = re.compile(r"^(CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|srcdir|abs_srcdir)[ \t]*[:?]?="
                       r"[ \t]*(.*)$", re.MULTILINE)
_FLAGS = ("CFLAGS", "CXXFLAGS", "LDFLAGS")
_LANGUAGES = {"CC": "C", "CXX": "C++"}


def _read_autotools(folder: Folder) -> None:
    if not folder.build:
        return
    makefile = Path(folder.build, "Makefile")
    found = dict(_VARIABLE.findall(text_of(makefile)))
    source = found.get("abs_srcdir") or found.get("srcdir")
    if source:
        folder.source = os.path.normpath(os.path.join(folder.build, source))
    _take_variables(folder, found, makefile)
    if os.path.exists(os.path.join(folder.build, "libtool")):
        folder.notes.append("it links with libtool: a program that was linked with a library of "
                            "this build is a script, and the program is in .libs; configure "
                            "--disable-shared for one that can be recorded as it is")


def _read_makefile(folder: Folder) -> None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        path = Path(folder.path, name)
        if path.is_file():
            _take_variables(folder, dict(_VARIABLE.findall(text_of(path))), path)
            return


def _take_variables(folder: Folder, found: dict[str, str], where: Path) -> None:
    for name, language in _LANGUAGES.items():
        if found.get(name, "").strip():
            folder.compilers.append(Compiler(language, found[name].strip(), ""))
    folder.flags += [Flags(f"{name} in {where}", found[name].strip()) for name in _FLAGS
                     if found.get(name, "").strip()]


def _read_cargo(folder: Folder) -> None:
    target = os.path.join(folder.path, "target")
    folder.build = target if os.path.isdir(target) else ""
    for name in ("config.toml", "config"):
        path = Path(folder.path, ".cargo", name)
        if path.is_file():
            folder.flags.append(Flags(str(path), text_of(path)))
