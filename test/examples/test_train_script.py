"""The script that records examples/meson: of what it is told, a line is a run or an option."""

import os
import subprocess

import pytest
from places import ROOT


@pytest.fixture
def said(tmp_path):
    """said(): the words of each command that the script starts, which only takes note of them."""
    for name in ("frontload", "valgrind"):
        stand_in = tmp_path / name
        stand_in.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >>"{tmp_path}/said"\n'
                            f'echo >>"{tmp_path}/said"\n')
        stand_in.chmod(0o755)

    def said() -> list[str]:
        subprocess.run([ROOT / "examples/meson/frontload/train", "app", "app.map",
                        tmp_path / "app.startup"], check=True, cwd=tmp_path,
                       env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
        return (tmp_path / "said").read_text().splitlines()

    return said


@pytest.mark.parametrize(("runs", "recorded"), [
    ("--one\n--two", ["--one", "--two"]), ("--one\n", ["--one"])])
def test_the_last_line_needs_no_end(tmp_path, said, runs, recorded):
    """Editors leave it out, and `read` says that nothing more comes."""
    (tmp_path / "app.runs").write_text(runs)
    lines = said()
    assert [line.split("|")[-2] for line in lines if line.startswith("record|-o")] == recorded
    assert sum("--data" in line and line.endswith(f"{recorded[0]}|") for line in lines) == 1


def test_a_program_that_does_not_end(tmp_path, said):
    """Each line of the file is an option, whatever it has in it, also for the data."""
    (tmp_path / "app.runs").write_text("--serve")
    (tmp_path / "app.ready").write_text("--until-listening=80\n--request=get 'a  b' *")
    options = "--until-listening=80|--request=get 'a  b' *|-o|app.traces|--|app|--serve|"
    assert said()[:2] == [f"record|{options}", f"record|--data|{options}"]
