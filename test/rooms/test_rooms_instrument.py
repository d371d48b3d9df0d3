"""Who may use whom in instrument/, by the #include lines of each room.

A file of the own room, or of its public folder include/, is included by its name alone, one of
another room as "room/file.h". Room names are thus all that has to be looked at.
"""

import re
from pathlib import Path

import pytest

_INSTRUMENT = Path(__file__).resolve().parents[2] / "instrument"

# Each room and those that it may use.
_MAY_USE: dict[str, set[str]] = {
    "base": set(),
    "format": set(),
    "recorder": {"base", "format"},
    "runtime": {"base", "format"},
    "sampler": {"base", "format"},
    "prefetch": {"base", "format"},
    "tracer": {"base", "format", "recorder"},
    "valgrind": {"base", "format", "recorder"},
    "launcher": {"base", "format", "prefetch"},  # frontload-run is the prefetcher as a program
}
# Rooms that live where libc may not be there yet: they include those of its headers that declare
# what the kernel and file formats look like. The runtime's libc.h names the rest that it takes.
_WITHOUT_LIBC = ("base", "runtime", "sampler", "prefetch")
_FORBIDDEN = {"stdio.h", "stdlib.h", "string.h", "pthread.h", "unistd.h", "malloc.h", "assert.h"}
_QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_BRACKETED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


def _sources(room: str) -> list[Path]:
    return [path for path in sorted((_INSTRUMENT / room).rglob("*"))
            if path.suffix in {".c", ".cpp", ".h"}]


def _is_of_own_room(name: str, path: Path, room: str) -> bool:
    return ".." not in name and any((folder / name).is_file() for folder in
                                    (path.parent, _INSTRUMENT / room / "include"))


def test_every_folder_is_a_room():
    """No folder of instrument/ is missing in the table."""
    assert {path.name for path in _INSTRUMENT.iterdir() if path.is_dir()} == set(_MAY_USE)


@pytest.mark.parametrize("room", _MAY_USE)
def test_includes_only_rooms_that_it_may_use(room):
    """A room includes its own files, LLVM's, and those of rooms that stand below it."""
    files = _sources(room)
    assert files
    wrong = []
    for path in files:
        for name in _QUOTED.findall(path.read_text()):
            other = name.partition("/")[0]
            if other == "llvm" or _is_of_own_room(name, path, room):
                continue
            if other not in _MAY_USE[room] or not (_INSTRUMENT / name).is_file():
                wrong.append(f"{path.relative_to(_INSTRUMENT)} includes {name}")
    assert not wrong


def test_the_table_has_no_circle():
    """The rooms can be put in an order in which each uses only those before it."""
    left = dict(_MAY_USE)
    while left:
        ready = [room for room, used in left.items() if not used & left.keys()]
        assert ready, f"these use each other: {sorted(left)}"
        for room in ready:
            del left[room]


@pytest.mark.parametrize("room", _WITHOUT_LIBC)
def test_rooms_without_libc_include_no_functions_of_it(room):
    """What runs before libc is there does not see malloc, stdio, locks or string functions."""
    wrong = [f"{path.relative_to(_INSTRUMENT)} includes {name}"
             for path in _sources(room) for name in _BRACKETED.findall(path.read_text())
             if name in _FORBIDDEN]
    assert not wrong
