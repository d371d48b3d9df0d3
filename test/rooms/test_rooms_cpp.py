"""The rooms of the C++ sources: what each folder may use, by its includes and its CMake links.

Arrows go one way. If two rooms need the same thing, it belongs into a room below both.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Lower rooms first: each may use those that are named, and nothing else of ours.
ROOMS = {
    "lldplugin/program": set(),
    "lldplugin/elf": {"format"},
    "lldplugin/cold_start": {"format", "elf"},
    "lldplugin/profile": {"elf", "program"},
    "lldplugin/names": {"elf", "profile"},
    "lldplugin/startup_set": {"elf", "cold_start", "profile", "names"},
    "lldplugin/plan": {"format", "program", "elf", "cold_start", "profile", "names", "startup_set"},
    "lldplugin/other_lld": {"program", "elf", "profile", "names", "startup_set", "plan"},
    "lldplugin/lld": {"program", "elf", "profile", "names", "startup_set", "plan", "other_lld"},
    "lldplugin/gold": {"program", "elf", "profile", "names", "startup_set", "plan"},
    "tools/blocks": {"format", "program", "elf"},
    "tools/cc": {"base", "program", "elf", "profile"},
    "tools/lazyfs": set(),
    "tools/predict": {"format", "program", "elf", "cold_start", "startup_set"},
    "tools/resolve": {"program", "elf", "profile", "names", "startup_set"},
}
BELOW = {"format", "base"}  # rooms of `instrument`
FORMAT = {path.name for path in (ROOT / "instrument/format").iterdir()}
LIBRARIES = ("llvm/", "lld/Common/")  # LLVM's headers and lld's own


def sources(room: str):
    for path in sorted((ROOT / room).rglob("*")):
        if path.suffix in (".h", ".c", ".cpp"):
            yield path


def included_rooms(path: Path):
    """Each header of ours that a source includes, and the room that it is in."""
    for header in re.findall(r'^#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
        if not header.startswith(LIBRARIES):
            yield header, "format" if header in FORMAT else header.rpartition("/")[0].split("/")[0]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_includes_only_what_it_may_use(room):
    name = Path(room).name
    for path in sources(room):
        for header, used in included_rooms(path):
            assert used in ROOMS[room] | {name}, (
                f"{path.relative_to(ROOT)} includes {header}: {room} may not use {used or header}")


@pytest.mark.parametrize("room", ROOMS)
def test_an_include_shows_the_room(room):
    for path in sources(room):
        for header, used in included_rooms(path):
            found = used == "format" or any((ROOT / top / header).is_file() for top in (
                "instrument", "lldplugin", Path(room).parent))
            assert found, (f"{path.relative_to(ROOT)} includes {header}: "
                           "write it from the folder that the room is in")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_linked_only_with_what_it_may_use(room):
    names = {Path(other).name for other in ROOMS} | BELOW
    text = (ROOT / room / "CMakeLists.txt").read_text()
    for links in re.findall(r"target_link_libraries\(([^)]*)\)", text):
        linked = set(re.findall(r"\bfrontload_(\w+)", links)) & names - {Path(room).name}
        assert linked <= ROOMS[room], f"{room} is linked with {sorted(linked - ROOMS[room])}"


def test_arrows_go_one_way():
    order = [Path(room).name for room in ROOMS]
    for room, used in ROOMS.items():
        for other in used - BELOW:
            assert order.index(other) < order.index(Path(room).name), f"{room}, {other}: a circle"


def test_no_program_is_used_by_a_room():
    programs = {"lld", "gold", "cc", "lazyfs", "predict", "resolve"}
    assert not any(used & programs for used in ROOMS.values())


@pytest.mark.parametrize("top", ["lldplugin", "tools"])
def test_nothing_lies_loose_beside_the_rooms(top):
    files = (path for path in (ROOT / top).rglob("*") if path.is_file())
    there = {path.relative_to(ROOT / top).parts[0] for path in files}
    assert there == {Path(room).name for room in ROOMS if room.startswith(top)} | {"CMakeLists.txt"}
