"""The programs of the matrix, compiled: each is made once, and linked as often as it takes.

rustc links by itself. It is given a linker that takes note of its arguments, and keeps what rustc
made for the link only, so that the same link can be done again by another linker.
"""

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from compiled import command_key, compiled, kept
from linking import COMPILERS, SECTION_FLAGS
from places import LLVM

SOURCES = Path(__file__).parent / "programs"
_SHOP = {path.name: path for path in (SOURCES / "shop").iterdir()}
_ALWAYS = ("-std=c++17", "-g0", *SECTION_FLAGS)
_TRAIN = ("-O2", "-fprofile-generate")
_OF_NEWER_SOURCES = {  # flags that have a training used for them
    "gcc": ("-Wno-missing-profile", "-Wno-coverage-mismatch"),
    "clang": ("-Wno-profile-instr-out-of-date", "-Wno-profile-instr-unprofiled",
              "-Wno-backend-plugin")}
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


def call(*command, code: int = 0, **options) -> subprocess.CompletedProcess:
    """Runs a command, which has to exit with `code`."""
    words = [os.fspath(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, **options)
    assert result.returncode == code, f"{words}\n{result.stdout}{result.stderr}"
    return result


@dataclass(frozen=True)
class Mode:
    """A way to compile."""

    name: str
    flags: tuple[str, ...]
    is_lto: bool = False


O0 = Mode("O0", ("-O0",))
O2 = Mode("O2", ("-O2",))
LTO = Mode("LTO", ("-O2", "-flto"), is_lto=True)
THIN = Mode("ThinLTO", ("-O2", "-flto=thin"), is_lto=True)
PGO = Mode("PGO", ("-O2",))

RUST_DEBUG = Mode("debug", ())
RUST_RELEASE = Mode("release", ("-Copt-level=3",))
RUST_LTO = Mode("LTO", ("-Copt-level=3", "-Clto=fat"))
# What a compiler does by itself was legacy for a long time; stable ones cannot be told to.
MANGLINGS = {"default": (), "v0": ("-Csymbol-mangling-version=v0",)}


@dataclass(frozen=True)
class Program:
    """One version of a program, compiled but not linked."""

    compiler: str
    link_command: tuple  # the driver, and what it needs
    objects: tuple[Path, ...]
    is_lto: bool = False

    def link(self, output: Path, *flags, code: int = 0) -> subprocess.CompletedProcess:
        return call(*self.link_command, *flags, *self.objects, "-o", output, code=code,
                    cwd=output.parent)


@functools.cache
def shop(compiler: str, mode: Mode, version: int) -> Program:
    """The program in C++."""
    driver = COMPILERS[compiler][1]
    objects = tuple(_object(compiler, mode, version, Path(name).stem) for name in sorted(_SHOP)
                    if name.endswith(".cpp"))
    # With LTO it is the link that compiles.
    flags = (*_ALWAYS, *mode.flags) if mode.is_lto else ()
    return Program(compiler, (driver, *flags), objects, mode.is_lto)


def _object(compiler: str, mode: Mode, version: int, stem: str) -> Path:
    flags = (*mode.flags, *(_training(compiler, stem) if mode is PGO else ()))
    return compiled(COMPILERS[compiler][1], *_ALWAYS, *flags, f"-DVERSION={version}", "-c",
                    f"{stem}.cpp", output=f"{stem}.o", sources=_SHOP)


def _training(compiler: str, stem: str) -> tuple[str, ...]:
    """Version 2 is compiled with the training of version 1, as builds do between trainings."""
    driver = COMPILERS[compiler][1]

    def make(folder: Path) -> None:
        for name, source in _SHOP.items():
            shutil.copy(source, folder / name)
        call(driver, *_ALWAYS, *_TRAIN, "-DVERSION=1", "-c", *folder.glob("*.cpp"), cwd=folder)
        call(driver, *_TRAIN, *folder.glob("*.o"), "-o", "shop", cwd=folder)
        call(folder / "shop", cwd=folder)
        if compiler == "clang":
            call(LLVM / "llvm-profdata", "merge", "-o", folder / "shop.profdata",
                 *folder.glob("*.profraw"))

    folder = kept(make, "trained", *command_key([driver, *_ALWAYS, *_TRAIN]), *_SHOP.values())
    training = folder / (f"{stem}.gcda" if compiler == "gcc" else "shop.profdata")
    return f"-fprofile-use={training}", *_OF_NEWER_SOURCES[compiler]


@functools.cache
def tally(mode: Mode, mangling: str, version: int) -> Program:
    """The library and program in Rust."""
    source = SOURCES / "tally"
    # cargo tells the versions of a crate apart by metadata, and the hashes in names follow it.
    flags = ("--edition=2018", f"-Cmetadata=version-{version}", *MANGLINGS[mangling],
             "--cfg", f"version{version}", *mode.flags)

    def make(folder: Path) -> None:
        linker = folder / "linker"
        linker.write_text(_NOTING_LINKER)
        linker.chmod(0o755)
        call("rustc", *flags, "--crate-type=rlib", "--crate-name=tally", source / "lib.rs",
             cwd=folder)
        call("rustc", *flags, "--crate-name=tally_main", "--extern=tally=libtally.rlib",
             source / "main.rs", f"-Clinker={linker}", "-o", "tally", cwd=folder)

    # What rustup calls rustc is one program for all versions.
    folder = kept(make, "rust", *command_key(["rustc", *flags]), call("rustc", "-vV").stdout,
                  source, _NOTING_LINKER)
    arguments = (folder / "link.txt").read_text().splitlines()
    output = arguments.index("-o")
    del arguments[output:output + 2]
    words = [word for word in arguments if not _CHOICE_OF_LINKER.fullmatch(word)]
    return Program("gcc", ("cc", *words), ())
