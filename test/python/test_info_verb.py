"""frontload info: what this machine allows, what is missing and its remedy."""

import json
import os

import pytest
from frontload.machine import linkers


def test_info_is_text_and_json(cli):
    """Both forms name the same abilities; each thing that is missing has a remedy. The text ends
    with what to do, and has a terminal's width, but for paths."""
    report = json.loads(cli("info", "--json=-").out)
    assert report["schema"] == "frontload-info/1"
    text = cli("info").out
    assert "\nNext: " in text
    assert all(len(line) <= 80 for line in text.splitlines() if "/" not in line)
    for ability in report["abilities"]:
        assert ability["what"].split(" (")[0].split()[0] in text
        assert ability["works"] or ability["remedy"]
    assert {ability["what"].split()[0].removesuffix("'s") for ability in report["abilities"]} == {
        "ptrace", "frontload-trace", "frontload-valgrind", "perf", "eviction", "drop_caches",
        "strace", "slow"}


# Linkers by name and version, and what is said of their use.
LINKERS = [
    ("ld.frontload", "LLD 22.1.8", "the whole front"),
    ("ld.lld-22", "Debian LLD 22.1.8", "--symbol-ordering-file"),
    ("ld.gold", "GNU gold (GNU Binutils for Debian 2.40) 1.16", "--section-ordering-file=FILE"),
    ("ld.bfd", "GNU ld (GNU Binutils for Debian) 2.40", "--script=FILE, by frontload order"),
    ("ld.bfd", "GNU ld (GNU Binutils for Ubuntu 24.10) 2.43.1", "or --section-ordering-file"),
    ("ld.bfd", "GNU ld (crosstool-NG 1.26.0) 2.43", "or --section-ordering-file"),
    ("lld-link", "LLD 22.1.8", "/order:@FILE, by frontload order --linker lld-link"),
    ("ld64.lld-22", "LLD 22.1.8", "-order_file FILE, by frontload order --linker ld64.lld"),
    ("ld.mold", "mold 2.30.0 (compatible with GNU ld)", "a note, by frontload finish"),
]


@pytest.fixture
def linker(tmp_path, monkeypatch):
    """linker(number, name, version): puts a program that prints a linker's version into the folder
    of this number in PATH."""
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / str(n)) for n in range(len(LINKERS))))
    monkeypatch.delenv("FRONTLOAD_BINDIR", raising=False)

    def linker(number, name, version):
        path = tmp_path / str(number) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{version}'\n")
        path.chmod(0o755)
        return path

    return linker


def test_what_a_linker_can_do(linker, tmp_path):
    made = {str(linker(number, name, version)): (version, use)
            for number, (name, version, use) in enumerate(LINKERS)}
    found = {each.path: each for each in linkers.find()}
    for path, (version, use) in made.items():
        assert found[path].version == version and use in found[path].use


def test_a_linker_beside_the_command(linker, tmp_path, monkeypatch):
    """pip's folder of commands need not be in PATH."""
    path = linker(len(LINKERS), "ld.frontload", "LLD 22.1.8")
    monkeypatch.setattr("sys.argv", [str(path.with_name("frontload"))])
    assert linkers.find()[0].path == str(path)


def test_what_is_no_linker(linker, tmp_path):
    """Programs with similar names, broken ones and folders."""
    for other in ("ld.so", "ld.gold-backup", "collect2", "lld-linker", "old.bfd"):
        linker(0, other, "1.0")
    (tmp_path / "0" / "ld.bfd").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "0" / "ld.bfd").chmod(0o755)
    (tmp_path / "0" / "ld.mold-3").mkdir()
    assert not [each for each in linkers.find() if each.path.startswith(str(tmp_path))]
