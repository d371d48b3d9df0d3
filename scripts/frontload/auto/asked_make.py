"""Asks make how it would link a program again: `make -n`, with all objects taken to be new (-W).

make then prints the commands without running them, and the program stays up to date. (Lines that
begin with + run even so, as for every `make -n`.) Lines that call make again would also run, and
without end where the other make waits for a file that nothing has made: MAKE=: makes them do
nothing. Variables that the user gave to make on the command line are not known.

libtool  prints `libtool --mode=link gcc ... -o app`, which is no link yet. libtool itself says what
         it would run, with --dry-run: for a program with shared libraries of the same build, a link
         of .libs/app
"""

import itertools
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from frontload.auto import link_command
from frontload.auto.link_command import LinkCommand
from frontload.base.processes import run

_MAKEFILES = "GNUmakefile", "makefile", "Makefile"
_OBJECTS = (".o", ".lo", ".a", ".la", ".obj")
_MAX_CHARACTERS = 500_000  # of arguments: Linux's limit is some megabytes, with the environment
_MAX_FOLDERS = 4  # above the program
_SECONDS = 60
LIBTOOL_FOLDER = ".libs"  # has the programs and libraries that libtool links
_SILENT = "--silent", "--quiet"


def links(program: str) -> list[LinkCommand]:
    """The links that make would do for a program or library, by the nearest Makefile that has any.
    Makefiles farther away may only know it by an implicit rule."""
    make = shutil.which("gmake") or shutil.which("make")
    for folder in list(Path(program).parents)[:1 + _MAX_FOLDERS]:
        if not make or not any((folder / name).is_file() for name in _MAKEFILES):
            continue
        objects = _objects(folder)
        for target in _targets(os.path.relpath(program, folder)):
            # Makefiles are not made again (-o): that would not be a description only.
            result = run([make, "-n", "MAKE=:", *(f"-o{name}" for name in _MAKEFILES),
                          *(f"-W{path}" for path in objects if path != target), target],
                         directory=str(folder), timeout=_SECONDS,
                         environment=os.environ | {"MAKEFLAGS": ""})
            source = f"make -n {target} in {folder}"
            if found := [replace(link, is_asked=True)
                         for link in _printed(result.stdout, str(folder), source)
                         if os.path.realpath(link.output) == os.path.realpath(program)]:
                return found
    return []


def _targets(path: str) -> list[str]:
    """What make may call this file."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != LIBTOOL_FOLDER:
        return [path]
    above = os.path.dirname(folder)
    if ".so" in name:
        return [os.path.join(above, f"{name.partition('.so')[0]}.la")]
    return [os.path.join(above, name)]


def _objects(folder: Path) -> list[str]:
    found: list[str] = []
    for inside, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", LIBTOOL_FOLDER)]
        found += [os.path.relpath(os.path.join(inside, name), folder) for name in names
                  if name.endswith(_OBJECTS)]
    found.sort(key=lambda path: (path.count("/"), path))
    ends = itertools.accumulate(len(path) + len("-W") + 1 for path in found)
    return [path for path, end in zip(found, ends, strict=True) if end <= _MAX_CHARACTERS]


def _printed(text: str, folder: str, source: str) -> Iterator[LinkCommand]:
    """The links in what make prints: a line for each shell, which begins in the folder."""
    for line in text.replace("\\\n", " ").splitlines():
        yield from link_command.in_text(line, folder, source)
        for inside, words in link_command.simple_commands(line, folder):
            yield from _by_libtool(words, inside, source)


def _by_libtool(words: list[str], folder: str, source: str) -> Iterator[LinkCommand]:
    """The links that a call of libtool would do."""
    place = next((number for number, word in enumerate(words)
                  if os.path.basename(word).endswith("libtool")), None)
    if place is None or "--mode=link" not in words:
        return
    result = run([*words[:place + 1], "--dry-run",
                  *(word for word in words[place + 1:] if word not in _SILENT)],
                 directory=folder, timeout=_SECONDS)
    for line in result.stdout.splitlines():
        if line.startswith("libtool: link: "):
            for link in link_command.in_text(line.removeprefix("libtool: link: "), folder, source):
                yield replace(link, source=f"{source}, and libtool")
