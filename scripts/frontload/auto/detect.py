"""What a folder is built by: recognizes build folders and source folders by the files in them.

A build folder says which sources it builds. In a source folder, this looks for build folders.
"""

import os
from pathlib import Path

from frontload.auto import cargo_folder, cmake_folder, make_folder, meson_folder
from frontload.auto.build_folder import Folder

# What says of a folder that it was configured, and what that it has the sources.
BUILT = {"CMakeCache.txt": "cmake", "meson-info": "meson", "config.status": "autotools"}
SOURCES = {"CMakeLists.txt": "cmake", "meson.build": "meson", "configure": "autotools",
           "configure.ac": "autotools", "Cargo.toml": "cargo", "go.mod": "go",
           "MODULE.bazel": "bazel", "WORKSPACE": "bazel", "WORKSPACE.bazel": "bazel",
           "BUILD.bazel": "bazel", "GNUmakefile": "make", "Makefile": "make", "makefile": "make",
           "build.ninja": "ninja"}
_READERS = {"cmake": cmake_folder.read, "meson": meson_folder.read,
            "autotools": make_folder.read_autotools, "make": make_folder.read_makefile,
            "cargo": cargo_folder.read}


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
    if folder.system in _READERS:
        _READERS[folder.system](folder)
    return folder
