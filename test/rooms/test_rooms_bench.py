"""The rooms of bench/coldbench: imports go one way."""

import ast
from pathlib import Path

import pytest

COLDBENCH = Path(__file__).parents[2] / "bench/coldbench"
# Each room uses only itself and those before it; what is above them uses all.
ROOMS = ("variants", "measure", "judge", "show")
# Called by a program in bench/ each; what they share is no program.
PROGRAMS = ("run", "race", "table", "readahead", "overhead", "picture", "source_package",
            "giant", "steady", "hooks", "fleet", "heldout", "sampling", "scale")


def imported(file: Path) -> set[str]:
    """The parts of coldbench that a module names after `coldbench.`: rooms, and modules above."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "coldbench":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coldbench."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names
                      if alias.name.startswith("coldbench.")}
    return found


def test_every_room_is_here():
    folders = {folder.name for folder in COLDBENCH.iterdir()
               if folder.is_dir() and any(folder.glob("*.py"))}
    assert folders == set(ROOMS)
    assert all((COLDBENCH / f"{name}.py").is_file() for name in PROGRAMS)


@pytest.mark.parametrize("number", range(len(ROOMS)), ids=ROOMS)
def test_a_room_uses_those_before_it(number):
    files = list((COLDBENCH / ROOMS[number]).rglob("*.py"))
    used = {name for file in files for name in imported(file)}
    assert used <= set(ROOMS[:number + 1])


def test_no_program_is_a_library():
    used = {(file.name, name) for file in COLDBENCH.rglob("*.py")
            for name in imported(file) if name in PROGRAMS}
    assert used == set()
