"""Finds the link command of a program. The places that may have it, in order:

 1. the user (--link)
 2. a log of links, as frontload-cc --link-log writes it: one JSON object a line, {"directory",
    "arguments", "output"}; the last for the program counts
 3. a folder above the program that Ninja built (CMake's, Meson's)
 4. a folder above the program that CMake's Makefiles built: CMakeFiles/TARGET.dir/link.txt
 5. a build that is watched (--build): watched_build.py
 6. cargo, which is asked to keep the objects: asked_cargo.py
 7. make, which is asked what it would do: asked_make.py

If no place has the command, the message lists what each place had.
"""

import json
import os
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from frontload.auto import asked_cargo, asked_make, link_command, programs, watched_build
from frontload.auto.link_command import LinkCommand
from frontload.base import errors, files
from frontload.base.errors import Diagnostics, Failure
from frontload.base.processes import run

_MAX_FOLDERS = 16  # above the program
_REMEDY = ("have the build watched: --build 'make'; or build with `frontload-cc --link-log=FILE` "
           "before the compiler and give --link-log FILE; or give the link command: "
           "--link 'c++ ...'")


@dataclass
class Search:
    """A search for the link of `program`, with the user's options about it; `tried`: for each
    place, why it had no link; `diagnostics`: the progress of a watched build; `stack`: what keeps
    files for the link until it is left. Without it, nothing of the build is run."""

    program: str
    link: str | None = None
    log: str | None = None
    build: str | None = None
    build_folder: str | None = None  # where `build` runs, and `link` if it ran somewhere else
    tried: list[str] = field(default_factory=list)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    stack: ExitStack | None = None

    def find(self) -> LinkCommand:
        for source in (self._given, self._logged, self._ninja, self._makefiles, self._watched,
                       self._cargo, self._make):
            found = [link for link in source() if same_file(link.output, self.program)]
            if found:
                return found[-1]
        raise Failure(f"{self.program}: its link command was not found: " + "; ".join(self.tried),
                      note=self._remedy())

    def _remedy(self) -> str:
        if programs.is_of_system(self.program):
            return ("if the command starts the program by another, name the program, and write {} "
                    f"in its place: --program APP -- {self.program} {{}} ...")
        return _REMEDY

    def _given(self) -> list[LinkCommand]:
        if self.link is None:
            return []
        directory = os.path.abspath(self.build_folder or ".")
        links = link_command.in_text(self.link, directory, "--link")
        if not links:
            raise Failure("--link: contains no command of a compiler or linker that links",
                          note="give the line that the build shows when it links: "
                          "--link 'c++ main.o -o app'")
        for link in links:
            if same_file(link.output, self.program):
                return [link]
        raise Failure(f"--link: links {link_command.output_of(links[-1].arguments)} in "
                      f"{links[-1].directory}, not {self.program}",
                      note="say where it runs with --build-folder DIR")

    def _logged(self) -> list[LinkCommand]:
        path = self.log or os.environ.get("FRONTLOAD_LINK_LOG")
        if not path:
            self.tried.append("no link log was given")
            return []
        links, damaged = read_log(path)
        self.tried.append(f"{path} has {len(links)} links, none of this program"
                          + (f", and {errors.count(damaged, 'damaged line')}" if damaged else ""))
        return links

    def _above(self) -> list[Path]:
        return list(Path(self.program).parents)[:_MAX_FOLDERS]

    def _ninja(self) -> list[LinkCommand]:
        for folder in self._above():
            manifests = [name for name in ("build.ninja", *sorted(
                path.name for path in folder.glob("build-*.ninja"))) if (folder / name).is_file()]
            for manifest in manifests:
                links = [link for link in in_ninja(folder, manifest, self.program)
                         if same_file(link.output, self.program)]
                self.tried.append(f"{folder / manifest} has no link of it")
                if links:
                    return links
        if not any("ninja" in text for text in self.tried):
            self.tried.append("no build.ninja is above it")
        return []

    def _makefiles(self) -> list[LinkCommand]:
        top = next((folder for folder in self._above() if (folder / "CMakeCache.txt").is_file()),
                   None)
        if top is None:
            self.tried.append("no CMake build folder is above it")
            return []
        self.tried.append(f"{top} has no CMakeFiles/*.dir/link.txt of it")
        return [link for path in sorted(top.rglob("CMakeFiles/*.dir/link.txt"))
                for link in in_link_text(path)]

    def _watched(self) -> list[LinkCommand]:
        if self.build is None:
            self.tried.append("no build command was given")
            return []
        links = watched_build.links(self.build, os.path.abspath(self.build_folder or "."),
                                    self.program, self.diagnostics)
        self.tried.append(f"`{self.build}` did not link it")
        return links


    def _make(self) -> Iterable[LinkCommand]:
        self.tried.append("make does not say how it links it")
        return asked_make.links(self.program) if self.stack else ()

    def _cargo(self) -> Iterable[LinkCommand]:
        return asked_cargo.links(self.program, self.stack, self.diagnostics) if self.stack else ()


def same_file(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def read_log(path: str) -> tuple[list[LinkCommand], int]:
    """The links in a log that frontload-cc wrote, and the number of damaged lines, such as the last
    one on a full disk."""
    found, damaged = [], 0
    with files.open_input(path, "write it with: frontload-cc --link-log=FILE COMPILER ...") as log:
        for line in filter(bytes.strip, log):
            try:
                # Paths in the log are raw bytes: the log need not be UTF-8.
                entry = json.loads(line.decode("utf-8", "surrogateescape"))
                link = link_command.from_words(entry["arguments"], entry["directory"], path)
            except (ValueError, LookupError, TypeError):
                damaged += 1
                continue
            if link:
                found.append(link)
    return found, damaged


def in_ninja(folder: Path, manifest: str, program: str) -> list[LinkCommand]:
    """The links of a program in a folder that Ninja builds.

    Only `-t compdb` shows response files (-x), which Ninja removes after the link. Like `-t
    commands` it reads the manifest and changes nothing.
    """
    ninja = shutil.which("ninja") or shutil.which("ninja-build") or shutil.which("samu")
    if ninja is None:
        raise Failure(f"{folder / manifest}: Ninja made this build, but ninja was not found",
                      note="put it in PATH (apt-get install ninja-build), or give --link")
    result = run([ninja, "-C", str(folder), "-f", manifest, "-t", "compdb", "-x"])
    if result.status:
        raise Failure(f"{folder / manifest}: ninja cannot read it: "
                      f"{(result.stderr or result.stdout).strip()}", note="give --link")
    # With -C, ninja says on stdout that it enters the folder.
    text = result.stdout[result.stdout.find("["):]
    try:
        entries = json.loads(text)
    except ValueError as problem:
        raise Failure(f"{folder / manifest}: ninja -t compdb wrote no JSON: {problem}",
                      note="give --link") from problem
    # Most entries are compilations: parsing all of them would take seconds in a large build.
    name = os.path.basename(program)
    return [link for entry in entries if name in entry["command"] or name in entry["output"]
            for link in link_command.in_text(entry["command"], str(folder), f"Ninja in {folder}")]


def in_link_text(path: Path) -> list[LinkCommand]:
    """The links that CMake's Makefiles do for one target, in the folder that has CMakeFiles."""
    folder = path.parent.parent.parent
    text = path.read_text("utf-8", "surrogateescape")
    return link_command.in_text(text, str(folder), str(path))
