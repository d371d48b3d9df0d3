"""What a program needs to be loaded: its interpreter, and its libraries."""

import functools
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

_MAX_LINE = 4096  # a script's first line, which names its interpreter
_ORIGIN = "$ORIGIN", "${ORIGIN}"


@dataclass(frozen=True)
class _Loading:
    interpreter: str | None = None
    needed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # searched for libraries


def interpreter(path: os.PathLike[str] | str) -> str | None:
    """The loader of an ELF program, the interpreter of a script; None if it is neither."""
    with open(path, "rb") as file:
        if file.read(2) == b"#!":
            words = file.readline(_MAX_LINE).split()
            return os.fsdecode(words[0]) if words else None
    return _read(path).interpreter


def beside(path: os.PathLike[str] | str) -> list[str]:
    """The libraries that a program, or a library it needs, finds relative to itself ($ORIGIN)."""
    return list(dict.fromkeys(_beside(os.path.realpath(path), (), set())))


def needed(path: os.PathLike[str] | str, first: Sequence[str] = ()) -> list[str]:
    """The libraries that a program needs, in the order in which the dynamic linker searches them,
    as this machine has them. A library that is not found is left out. `first`: folders that are
    searched before all others, as LD_LIBRARY_PATH has them."""
    found, machine = [os.fspath(path)], _machine(path)
    system = _system_folders()
    for each in found:
        loading = _read(each)
        origin = os.path.dirname(os.path.realpath(each))
        own = (functools.reduce(lambda folder, name: folder.replace(name, origin), _ORIGIN, folder)
               for folder in loading.folders)
        folders = [*first, *own, *system]
        for name in loading.needed:
            library = next((place for place in (os.path.join(folder, name) for folder in folders)
                            if os.path.isfile(place) and _machine(place) == machine), None)
            if library and not any(os.path.samefile(library, known) for known in found):
                found.append(library)
    return found[1:]


def names(path: os.PathLike[str] | str) -> tuple[str, ...]:
    """The names by which a file asks for libraries (DT_NEEDED)."""
    return _read(path).needed


def _system_folders() -> list[str]:
    """The folders of the system's libraries, as /etc/ld.so.conf names them, and the usual ones."""
    folders = []
    for path in ("/etc/ld.so.conf", *sorted(glob.glob("/etc/ld.so.conf.d/*.conf"))):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as lines:
                folders += [line.strip() for line in lines if line.startswith("/")]
        except OSError:
            continue
    return [*folders, "/lib64", "/usr/lib64", "/lib", "/usr/lib"]


def _machine(path: os.PathLike[str] | str) -> bytes:
    """What tells files apart that cannot be loaded together: class, byte order and machine."""
    try:
        with open(path, "rb") as file:
            header = file.read(20)
    except OSError:
        return b""
    return header[:6] + header[18:]


def _beside(path: str, inherited: Sequence[str], visited: set[str]) -> Iterator[str]:
    """DT_RPATH is inherited by dependencies, DT_RUNPATH is not; an extra library does no harm."""
    if path in visited:
        return
    visited.add(path)
    loading = _read(path)
    folders = list(inherited)
    for folder in loading.folders:
        if folder.startswith(_ORIGIN):
            for origin in _ORIGIN:
                folder = folder.replace(origin, os.path.dirname(path))
            folders.append(folder)
    for name in loading.needed:
        library = next((os.path.abspath(os.path.join(folder, name)) for folder in folders
                        if os.path.isfile(os.path.join(folder, name))), None)
        if library:
            yield library
            yield from _beside(os.path.realpath(library), folders, visited)


def _read(path: os.PathLike[str] | str) -> _Loading:
    needed, folders, loader = [], [], None
    try:
        with open(path, "rb") as file:
            for segment in ELFFile(file).iter_segments():
                if isinstance(segment, InterpSegment):
                    loader = segment.get_interp_name()
                elif isinstance(segment, DynamicSegment):
                    for tag in segment.iter_tags():
                        if tag.entry.d_tag == "DT_NEEDED":
                            needed.append(tag.needed)  # type: ignore[attr-defined]  # set by its kind
                        elif tag.entry.d_tag in ("DT_RUNPATH", "DT_RPATH"):
                            folders += getattr(tag, tag.entry.d_tag[3:].lower()).split(":")
    except Exception:
        # pyelftools raises many errors on damaged files (see contents.py). An unreadable file has
        # no known dependencies; running it will tell more.
        return _Loading()
    return _Loading(loader, tuple(needed), tuple(folders))
