"""What a linked program is: which compiler and linker made it, and how.

The compiler, lld and mold write their names into .comment, and gold leaves a note. GNU ld leaves
nothing, so it is the linker if there is no sign of another.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from frontload.base.arrays import np
from frontload.base.errors import BadData, Failure
from frontload.elf import file as elf
from frontload.elf import front
from frontload.elf.loading import read_loading, read_start
from frontload.elf.symbols import UNDEFINED

_COMPILERS = re.compile(r"GCC: \([^)]*\) ([\d.]+)|(clang|rustc) version ([\d.]+)|(Go|ghc)\b")
_NOT_PROGRAMS = (".o", ".so", ".a", ".ko", ".obj", ".dwo", ".lo", ".rlib", ".rmeta", ".pcm", ".gch")
_NO_BUILD = {"CMakeFiles", ".git", "node_modules", "meson-private", "__pycache__", "incremental",
             ".cmake", "deps"}
_MAX_FILES = 200_000
# Files there belong to a package or an administrator, not to a build.
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib",
                   "/usr/libexec", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib",
                   "/usr/local/libexec")
TRIED = ".front"  # what frontload auto leaves beside a program


@dataclass(frozen=True)
class Program:
    path: str
    size: int
    kind: str  # program, static program or shared library
    position_independent: bool
    stripped: bool
    linker: str
    compilers: tuple[str, ...]
    packed_relocations: bool
    has_front: bool
    machine: str


def look(path: os.PathLike[str] | str) -> Program:
    """Looks into a linked file; BadData if it is not one."""
    read = elf.read(path)
    if not read.linked:
        raise BadData(path, "is an object, not a program or shared library",
                      note="give the file that the linker wrote")
    loading = read_loading(path)
    start = read_start(path)
    names = set(read.section_names)
    comments = _comments(path)
    has_interpreter = start.has_interpreter
    # A static-pie has no interpreter either, but its DT_FLAGS_1 have DF_1_PIE.
    is_library = (not has_interpreter and bool(loading.dynamic)
                  and not loading.dynamic.get(0x6ffffffb, 0) & 0x08000000)
    return Program(
        path=os.fspath(path), size=os.path.getsize(path),
        kind="shared library" if is_library else
             "program" if has_interpreter else "static program",
        position_independent=not loading.fixed,
        stripped=read.symbols is None or read.debug is not None,
        linker=_linker(comments, names), compilers=tuple(sorted(_compilers(comments))),
        packed_relocations=bool(len(loading.packed)),
        has_front=front.has_front(read), machine=loading.machine)


def exported(path: os.PathLike[str] | str) -> int:
    """How many symbols of a linked file libraries and plugins can use; 0 if its table of them is
    damaged."""
    symbols = elf.read(path).dynamic_symbols
    with suppress(Failure):
        return int(np.count_nonzero(symbols.section != UNDEFINED)) if symbols else 0
    return 0


def _comments(path: os.PathLike[str] | str) -> list[str]:
    try:
        with open(path, "rb") as file:
            section = ELFFile(file).get_section_by_name(".comment")
            data = section.data() if section and section["sh_size"] < 1 << 20 else b""
    except Exception:  # see elf/contents.py
        return []
    return [part.decode("utf-8", "replace") for part in data.split(b"\0") if part]


def _linker(comments: list[str], names: set[bytes]) -> str:
    for comment in comments:
        if match := re.match(r"Linker: (?:\w+ )*(LLD) (?:version )?([\d.]+)", comment):
            return f"lld {match[2]}"
        if match := re.match(r"mold ([\d.]+)", comment):
            return f"mold {match[1]}"
    if b".note.gnu.gold-version" in names:
        return "gold"
    if b".note.go.buildid" in names and not comments:
        return "Go's own"
    return "GNU ld"


def _compilers(comments: list[str]) -> Iterator[str]:
    for comment in comments:
        if comment.startswith("Linker:"):
            continue
        if match := _COMPILERS.search(comment):
            yield (f"gcc {match[1]}" if match[1] else f"{match[2]} {match[3]}" if match[2]
                   else match[4])


def below(folder: os.PathLike[str] | str) -> list[Program]:
    """The programs and shared libraries in a folder and below it, the largest first. Links, files
    that are not ELF, and results of frontload auto do not count."""
    found = {}
    for path in _files(folder):
        try:
            status = path.lstat()
            with open(path, "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            program = look(path)
        except (OSError, Failure):
            continue
        if not (program.has_front and path.suffix == TRIED and path.with_suffix("").exists()):
            found[status.st_dev, status.st_ino] = program
    return sorted(found.values(), key=lambda each: (-each.size, each.path))


def _files(folder: os.PathLike[str] | str) -> Iterator[Path]:
    """Files that may be programs: executable, and not intermediate ones."""
    seen = 0
    for inside, folders, names in os.walk(os.fspath(folder)):
        folders[:] = sorted(name for name in folders if name not in _NO_BUILD)
        for name in sorted(names):
            seen += 1
            if seen > _MAX_FILES:
                return
            path = Path(inside, name)
            if name.endswith(_NOT_PROGRAMS) and not name.endswith(".so"):
                continue
            if path.is_symlink() or not path.is_file():
                continue
            if os.access(path, os.X_OK) or ".so" in name:
                yield path


def file_of(command: str) -> str:
    """The file of a command: absolute, links followed."""
    found = shutil.which(command)
    if found is None:
        what = "is not a program that can be run" if os.path.exists(command) else "no such program"
        raise Failure(f"{command}: {what}", note="build it first, or name it with --program")
    return os.path.realpath(found)


def is_elf(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def is_of_system(program: str) -> bool:
    """Whether a program was installed for all users."""
    return os.path.realpath(program).startswith(tuple(f"{folder}/" for folder in _SYSTEM_FOLDERS))
