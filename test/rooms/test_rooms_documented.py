"""CONTRIBUTING.md describes the house as it is: its tables name the rooms that the tests hold, with
what each may use, and every file that it sends readers to exists."""

import re
import subprocess
from pathlib import Path

import pytest
import test_rooms_cpp
import test_rooms_instrument
import test_rooms_python

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def rows(heading: str) -> dict[str, list[str]]:
    """The table below a heading: the other cells of each row by its first, without backquotes."""
    section = re.split(r"^#+ ", TEXT.partition(f"{heading}\n")[2], maxsplit=1, flags=re.M)[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in lines[2:]}


def test_the_rooms_of_the_command_are_told_in_their_order():
    rooms = [room for room in test_rooms_python.ORDER if "__" not in room and "/" not in room]
    assert list(rows("### `scripts/frontload`: the command")) == rooms


def test_the_rooms_of_instrument_are_told_with_what_they_may_use():
    told = {room: set(re.findall(r"`(\w+)`", uses)) for room, (_, uses) in
            rows("### `instrument`: inside and beside the program").items()}
    assert told == test_rooms_instrument._MAY_USE


def test_the_rooms_of_the_link_are_told():
    assert set(rows("### `lldplugin` and `tools`: the link")) == set(test_rooms_cpp.ROOMS)


@pytest.mark.parametrize("path", sorted(set(re.findall(
    r"`([\w./-]+\.(?:py|cpp|c|h|md|txt|cmake))`", TEXT))))
def test_a_file_that_it_names_is_there(path):
    """By the end of its path, as the page names it."""
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others",
                              "--exclude-standard"], capture_output=True, text=True, check=True)
    assert any(f"/{name}".endswith(f"/{path}") for name in tracked.stdout.splitlines())
