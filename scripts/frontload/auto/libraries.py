"""Shared libraries that are tried together with the program: how they were linked, and how the
program loads other builds of them.

A relinked library lies in its own folder under its soname, and LD_LIBRARY_PATH names that folder
first. A program with an old DT_RPATH searches that path before, and would load its own library.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile

from frontload.auto import linker_options, programs, relink
from frontload.auto.link_command import LinkCommand
from frontload.auto.link_sources import Given, Search
from frontload.auto.relink import Options
from frontload.base import errors, files, processes
from frontload.base.errors import Failure
from frontload.base.missing import Missing
from frontload.elf import dependencies
from frontload.elf import file as elf
from frontload.measure import prediction
from frontload.profile import coverage, front_report, resolver
from frontload.profile import format as profile
from frontload.profile.coverage import Report

_LISTED = re.compile(r"^\s*(\S+) => (/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)


@dataclass
class Library:
    """A library that can be linked again; the trial fills in its results."""

    module: str  # as the user calls it
    path: str
    soname: str
    link: LinkCommand
    plain: str = ""
    link_map: str = ""
    profile: str = ""
    names: int = 0
    report: Report = field(init=False, repr=False)
    prediction: dict | None = field(default=None, repr=False)

    @property
    def output(self) -> str:
        return f"{self.path}{programs.TRIED}"

    def predict(self, after: str, traces: Sequence[Path]) -> None:
        self.prediction = prediction.predict(
            [prediction.Build("before", self.plain), prediction.Build("after", after)],
            prediction.telling(traces)[0], self.plain)


def find(modules: Iterable[str], program: str, given: Given) -> tuple[list[Library], list[Missing]]:
    """The modules with known link commands, and why others are only recorded."""
    found, missing = [], []
    for module in modules:
        try:
            found.append(_find(module, program, given))
        except Failure as problem:
            missing.append(Missing(f"{module} with a front", problem.message, problem.note or
                                   "link it with its profile in its own build"))
    return found, missing


def _find(module: str, program: str, given: Given) -> Library:
    path = os.path.realpath(_path_of(module, program))
    if programs.look(path).kind != "shared library":
        raise Failure(f"{path}: is not a shared library", note="name one that the program loads")
    # --link is for the program only.
    link = Search(path, Given(None, given.log, given.build, given.build_folder)).find()
    refused = next((each for each in relink.hindrances(link)
                    if each.kind == linker_options.REFUSED), None)
    if refused:
        raise Failure(f"{path}: linked with {refused.option}: {refused.why}", note=refused.remedy)
    if not os.access(os.path.dirname(path), os.W_OK | os.X_OK):
        raise Failure(f"{os.path.dirname(path)}: is not a folder that you can write to",
                      note="link it with its profile in its own build")
    return Library(module, path, _soname(path), link)


def _path_of(module: str, program: str) -> str:
    """A library's path, as reported by the dynamic linker that will load it."""
    if os.path.isfile(module):
        return module
    loader = dependencies.interpreter(program)
    if loader is not None:
        listed = processes.run([loader, "--list", program]).stdout
        for name, path in _LISTED.findall(listed):
            if os.path.basename(module) in (name, os.path.basename(os.path.realpath(path))):
                return path
    raise Failure(f"{module}: {program} is not linked with it", note="give its path")


def _soname(path: str) -> str:
    with files.open_input(path) as file:
        for segment in ELFFile(file).iter_segments("PT_DYNAMIC"):
            assert isinstance(segment, DynamicSegment)
            for tag in segment.iter_tags("DT_SONAME"):
                return tag.soname  # type: ignore[attr-defined]  # set by its kind
    return os.path.basename(path)


def link_plain(libraries: Sequence[Library], scratch: Path) -> Path:
    """Links them unchanged, with maps, which name constants. Returns the folder."""
    folder = scratch / "libraries"
    folder.mkdir()
    for library in libraries:
        errors.note(f"linking {library.path} again, as {library.link.source} says")
        library.plain = str(folder / library.soname)
        library.link_map = str(scratch / f"{library.soname}.map")
        relink.link_to(library.link, library.plain, Options(link_map=library.link_map), scratch)
    return folder


@contextmanager
def linked_with_front(library: Library, startup: bytes, min_match: float, scratch: Path
                      ) -> Iterator[str]:
    """Within `with`, the library linked with this profile, in a temporary file that may be renamed;
    the results are stored in `library`."""
    written, report = (scratch / f"{library.soname}{end}" for end in (".startup", ".json"))
    written.write_bytes(startup)
    read = profile.read(written)
    library.names = len(read.touches)
    errors.note(f"linking {library.path} with a front of {errors.count(library.names, 'name')}")
    options = Options(profile=str(written), min_match=min_match, report=str(report))
    with relink.linked(library.link, library.output, options, scratch) as path:
        library.report = coverage.examine(elf.read(path), read,
                                          resolver.resolve(str(written), [path]).places,
                                          front_report.left_out(str(report)))
        yield path


def place(libraries: Sequence[tuple[Library, str]], folder: Path) -> Path:
    """A folder in which programs find these files as the libraries."""
    folder.mkdir()
    for library, path in libraries:
        (folder / library.soname).symlink_to(path)
    return folder


def loading_from(folder: Path | None) -> list[str]:
    """The command prefix that makes a program load its libraries from this folder first."""
    if folder is None:
        return []
    others = os.environ.get("LD_LIBRARY_PATH")
    return ["env", f"LD_LIBRARY_PATH={folder}" + (f":{others}" if others else "")]
