"""What a program needs to be loaded: its interpreter, and libraries that lie relative to itself."""

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
