"""The reference: everything that the sources read and write is described."""

import re
import sys

from linking import check_run
from places import ROOT

REFERENCE = ROOT / "docs/reference"
SHIPPED = ("instrument", "lldplugin", "tools", "scripts", "cmake", "bench")
C_SOURCES = (".c", ".cpp", ".h")


def sources(*folders: str) -> dict:
    """The text of all sources, by path; without what only tests have."""
    found = {}
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                try:
                    found[path.relative_to(ROOT)] = path.read_text()
                except UnicodeDecodeError:
                    continue  # a picture
    return found


def first_cells(page: str) -> str:
    """The first column of all tables of a page."""
    lines = (REFERENCE / page).read_text().splitlines()
    return "\n".join(line.split("|")[1] for line in lines if line.startswith("| "))


def test_pages_say_what_the_sources_and_programs_say(build):
    check_run(sys.executable, ROOT / "docs/site/written_pages.py", "--check", "--bin",
              build / "bin")


def test_each_variable_that_is_read_is_described():
    """Those that a program, a script or a test reads from the environment."""
    read = set()
    for path, text in sources(*SHIPPED, "test").items():
        if path.suffix in C_SOURCES:
            # A variable may be named where it is declared, and read elsewhere.
            read |= set(re.findall(r'"(FRONTLOAD(?:_[A-Z_]+)?)=?"', text))
        elif path.suffix == ".py" and (path.parts[0] != "test" or len(path.parts) == 2):
            read |= set(re.findall(r'environ(?:\.get\(|\[)"(FRONTLOAD[A-Z_]*)"', text))
        elif path.parts[0] in ("scripts", "bench") and path.suffix in ("", ".in", ".sh"):
            read |= set(re.findall(r"\$\{?(FRONTLOAD[A-Z_]*)[:}]", text))
    assert read == set(re.findall(r"`(FRONTLOAD[A-Z_]*)`", first_cells("environment.md")))


def test_each_exit_status_is_described():
    codes = set()
    for text in sources("instrument", "lldplugin", "tools", "scripts").values():
        codes |= set(re.findall(r"\bEXIT_(?!SUCCESS|FAILURE|STATUS)[A-Z_]+ = (\d+)", text))
        codes |= set(re.findall(r"\bexit[A-Z]\w+ = (\d+)", text))
    assert {"2", "65", "127"} <= codes <= set(re.findall(r"\d+", first_cells("exit-status.md")))


def test_each_schema_is_described():
    written = {name for text in sources(*SHIPPED).values()
               for name in re.findall(r'"(frontload-[a-z-]+/\d+)"', text)}
    assert written == set(re.findall(r"`(frontload-[a-z-]+/\d+)`", first_cells("json.md")))
