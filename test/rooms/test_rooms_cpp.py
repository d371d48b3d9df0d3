"""The rooms of the C and C++ sources: what each may use, by its includes and its CMake links.

Arrows go one way. If two rooms need the same thing, it belongs into a room below both. A room's own
files, or those of its public folder include/, are included as they lie there, all others from the
folder that their room is in.
"""

import re
from pathlib import Path

import pytest
from places import ROOT

# Lower rooms first: each may use those that are named, and nothing else of ours.
INSTRUMENT = {
    "base": set(),
    "format": set(),
    "recorder": {"base", "format"},
    "runtime": {"base", "format"},
    "prefetch": {"base", "format"},
    "tracer": {"base", "format", "recorder"},
    "valgrind": {"base", "format", "recorder"},
    "launcher": {"base", "format", "prefetch"},  # frontload-run is the prefetcher as a program
}
LLDPLUGIN = {
    "program": set(),
    "elf": {"format"},
    "cold_start": {"format", "elf"},
    "profile": {"elf", "program"},
    "names": {"elf", "profile"},
    "startup_set": {"elf", "cold_start", "profile", "names"},
    "plan": {"format", "program", "elf", "cold_start", "profile", "names", "startup_set"},
    "lld": {"program", "elf", "profile", "names", "startup_set", "plan"},
    "gold": {"format", "program", "elf", "profile", "names", "startup_set", "plan"},
}
TOOLS = {
    "cc": {"base", "format", "program", "elf", "profile"},
    "lazyfs": set(),
    "predict": {"base", "format", "program", "elf", "cold_start", "profile", "startup_set", "plan"},
    "resolve": {"format", "program", "elf", "profile", "names", "startup_set"},
}
TOPS = {"instrument": INSTRUMENT, "lldplugin": LLDPLUGIN, "tools": TOOLS}
MAY_USE = {f"{top}/{room}": used for top, rooms in TOPS.items() for room, used in rooms.items()}
ORDER = [room.rpartition("/")[2] for room in MAY_USE]
LIBRARIES = ("llvm/", "llvm-c/", "lld/Common/")  # LLVM's headers and lld's own
# Rooms that live where libc may not be there yet: they include those of its headers that declare
# what the kernel and file formats look like. The runtime's libc.h names the rest that it takes.
WITHOUT_LIBC = {"instrument/base", "instrument/runtime", "instrument/prefetch"}
OF_LIBC = {"stdio.h", "stdlib.h", "string.h", "pthread.h", "unistd.h", "malloc.h", "assert.h"}


def is_own(header: str, path: Path, room: str) -> bool:
    return ".." not in header and any((folder / header).is_file() for folder in (
        path.parent, ROOT / room / "include"))


def is_of(header: str, rooms: set[str]) -> bool:
    """Whether a header is of one of these rooms, and written from the folder that it is in."""
    room, slash, _ = header.partition("/")
    tops = TOPS if slash else ["instrument/format"]
    return (room if slash else "format") in rooms and any(
        (ROOT / top / header).is_file() for top in tops)


@pytest.mark.parametrize("room", MAY_USE)
def test_a_room_includes_only_what_it_may_use(room):
    for path in sorted((ROOT / room).rglob("*.[ch]*")):
        for mark, header in re.findall(r'^\s*#\s*include\s*(["<])([^">]+)', path.read_text(), re.M):
            if mark == "<":
                is_right = room not in WITHOUT_LIBC or header not in OF_LIBC
            else:
                is_right = (header.startswith(LIBRARIES) or is_own(header, path, room)
                            or is_of(header, MAY_USE[room] | {Path(room).name}))
            assert is_right, f"{path} includes {header}"


@pytest.mark.parametrize("room", MAY_USE)
def test_a_room_is_linked_only_with_what_it_may_use(room):
    cmake = ROOT / room / "CMakeLists.txt"
    text = cmake.read_text() if room.partition("/")[0] != "instrument" else ""
    for links in re.findall(r"target_link_libraries\(([^)]*)\)", text):
        linked = set(re.findall(r"\bfrontload_(\w+)", links)) & {*ORDER} - {Path(room).name}
        assert linked <= MAY_USE[room], f"{room} is linked with {sorted(linked - MAY_USE[room])}"


def test_arrows_go_one_way():
    """And no program is used by a room."""
    for room, used in MAY_USE.items():
        assert all(ORDER.index(other) < ORDER.index(Path(room).name) for other in used), room
        assert not used & {"lld", "gold", "tracer", "valgrind", "launcher", *TOOLS}, room


@pytest.mark.parametrize("top", TOPS)
def test_nothing_lies_loose_beside_the_rooms(top):
    files = (path for path in (ROOT / top).rglob("*") if path.is_file())
    there = {path.relative_to(ROOT / top).parts[0] for path in files}
    assert there == {*TOPS[top], "CMakeLists.txt"}


def test_the_diagram_of_the_architecture_shows_these_rooms():
    """A room stands one step to the right of those of its folder that it uses."""
    lines = []
    for top, rooms in TOPS.items():
        steps: dict[str, int] = {}
        for room, used in rooms.items():
            steps[room] = max((steps[other] + 1 for other in used if other in steps), default=0)
        groups = (" ".join(room for room in rooms if steps[room] == step)
                  for step in sorted(set(steps.values())))
        lines.append(f"{top + ':':12}{' → '.join(groups)}\n")
    assert "".join(lines) in (ROOT / "ARCHITECTURE.md").read_text()
