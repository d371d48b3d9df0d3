"""Names that hardly any compiler writes (odd_names.py): from the recording to the check of the
linked program each is found, or said to be missing as what it is."""

import json
import subprocess

import abilities
import pytest
from linking import BUILD, check_run, link
from odd_names import NAMES, addresses, program_with
from other_lld import BY_LLD

FRONTLOAD = BUILD / "bin" / "frontload"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The object of a program that has all these names, and the profile that was recorded of it."""
    abilities.need("ptrace")
    folder = tmp_path_factory.mktemp("recorded")
    program = program_with(folder, NAMES)
    link(folder / "app", program)
    check_run(FRONTLOAD, "record", "-o", folder / "traces", "--", folder / "app")
    check_run(FRONTLOAD, "profile", folder / "traces", "-o", folder / "app.startup")
    return program, folder / "app.startup"


def test_recorded(recorded):
    """The profile has all of them, in the order of first touch, each in its line."""
    lines = [line.split("\t") for line in recorded[1].read_text().split("\n")]
    names = [fields[5] for fields in lines if len(fields) >= 6]
    assert names[names.index("main") + 1:][:len(NAMES)] == list(NAMES.values())


@pytest.mark.parametrize("other", [[], [f"-Wl,{BY_LLD}"]], ids=["built-in", "other lld"])
def test_found(recorded, tmp_path, other):
    """A front has them all, in order, and the check says so."""
    program, profile = recorded
    out, report = tmp_path / "app", tmp_path / "report.json"
    link(out, program, f"-Wl,--front-report={report}", *other, profile=profile)
    assert json.loads(report.read_text())["names"]["missing"] == []
    assert sorted(NAMES, key=addresses(out).get) == list(NAMES)
    checked = json.loads(check_run(FRONTLOAD, "check", out, "--profile", profile, "--json", "-",
                                   "--require-front"))
    assert checked["missing"] == []


def test_missing(recorded, tmp_path):
    """In a program that has some of them the others are missing, as what they are: none is taken
    for another, and no message has what would steer a terminal."""
    def is_printable(text: str) -> bool:
        return text.replace("\n", "").isprintable()

    _, profile = recorded
    there = [name for name in NAMES if name in (b"new\\nline", b"tab", b"#include", b"<b>&\"'")]
    gone = [NAMES[name] for name in NAMES if name not in there]
    program, out, report = program_with(tmp_path, there), tmp_path / "app", tmp_path / "report"
    said = link(out, program, profile=profile, code=1).stderr
    assert is_printable(said)
    shown = [line.removeprefix("  ") for line in said.splitlines() if line.startswith("  ")]
    assert shown == [f"{'L' * 200}...", *gone[1:-1], r"grüß\xe2\x80\xae"]

    link(out, program, f"-Wl,--front-report={report},--min-match=0", profile=profile)
    missing = json.loads(report.read_text())["names"]["missing"]
    assert [entry["name"] for entry in missing] == gone

    told, found = (subprocess.run([FRONTLOAD, "check", out, "--profile", profile, *options],
                                  capture_output=True, text=True)
                   for options in ([], ["--json", "-"]))
    assert told.returncode == found.returncode == 1
    assert is_printable(told.stdout + told.stderr)
    assert [entry["name"] for entry in json.loads(found.stdout)["missing"]] == gone
