"""The Rust program of the matrix: a library and a program, in two versions, compiled once for each
way, and then linked as often as it takes.

rustc links by itself. It is given a linker that takes note of its arguments, and keeps what rustc
made for the link only, so that the same link can be done again by another linker.
"""

import functools
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from compiled import command_key, kept
from programs import SOURCES, Program, call, sources

_EXPECTED = (SOURCES / "tally" / "expected.txt").read_text()
_NOTING_LINKER = """\
#!/bin/sh
mkdir inputs
for word; do
  case $word in
  *.o | */rustc??????/*.rlib) cp "$word" inputs && word=$PWD/inputs/${word##*/} ;;
  esac
  printf '%s\\n' "$word"
done > link.txt
exec cc "$@"
"""
# By these, later compilers choose the lld that comes with them.
_CHOICE_OF_LINKER = re.compile(r"-fuse-ld=.*|-B.*gcc-ld")


@dataclass(frozen=True)
class Mode:
    name: str
    flags: tuple[str, ...]


DEBUG = Mode("debug", ())
RELEASE = Mode("release", ("-Copt-level=3",))
LTO = Mode("LTO", ("-Copt-level=3", "-Clto=fat"))
MODES = (DEBUG, RELEASE, LTO)
# What a compiler does by itself was legacy for a long time; stable ones cannot be told to.
MANGLINGS = {"default": (), "v0": ("-Csymbol-mangling-version=v0",)}


class RustBuilds:
    """Compiled once for all processes that run tests."""

    def __init__(self):
        self.program = functools.cache(self._program)

    def _program(self, mode: Mode, mangling: str, version: int) -> Program:
        # cargo tells the versions of a crate apart by metadata, and the hashes in names follow it.
        flags = ("--edition=2018", f"-Cmetadata=version-{version}", *MANGLINGS[mangling],
                 *mode.flags)
        source = sources("tally", version)

        def make(folder: Path) -> None:
            shutil.copytree(source, folder, dirs_exist_ok=True)
            linker = folder / "linker"
            linker.write_text(_NOTING_LINKER)
            linker.chmod(0o755)
            call("rustc", *flags, "--crate-type=rlib", "--crate-name=tally", "lib.rs", cwd=folder)
            call("rustc", *flags, "--crate-name=tally_main", "--extern=tally=libtally.rlib",
                 "main.rs", f"-Clinker={linker}", "-o", "tally", cwd=folder)

        # What rustup calls rustc is one program for all versions.
        folder = kept(make, "rust", *command_key(["rustc", *flags]), call("rustc", "-vV").stdout,
                      source, _NOTING_LINKER)
        arguments = (folder / "link.txt").read_text().splitlines()
        output = arguments.index("-o")
        del arguments[output:output + 2]
        words = [word for word in arguments if not _CHOICE_OF_LINKER.fullmatch(word)]
        return Program("gcc", ("cc", *words), (), _EXPECTED)
