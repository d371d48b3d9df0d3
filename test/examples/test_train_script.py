"""The script that records examples/meson: a line without an end is a run, too."""

import os
import subprocess
from pathlib import Path

import pytest

_TRAIN = Path(__file__).parents[2] / "examples/meson/frontload/train"


@pytest.mark.parametrize(("runs", "recorded"), [
    ("--one\n--two", ["--one", "--two"]), ("--one", ["--one"]), ("--one\n", ["--one"])])
def test_the_last_line_needs_no_end(tmp_path, runs, recorded):
    """Editors leave it out, and `read` says that nothing more comes."""
    (tmp_path / "app.runs").write_text(runs)
    for name in ("frontload", "valgrind"):
        stand_in = tmp_path / name
        stand_in.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/said\n')
        stand_in.chmod(0o755)
    subprocess.run([_TRAIN, "app", "app.map", tmp_path / "app.startup"], check=True, timeout=60,
                   env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, cwd=tmp_path)
    said = (tmp_path / "said").read_text().splitlines()
    assert [line.split()[-1] for line in said if line.startswith("record -o")] == recorded
    assert sum("--data" in line and line.endswith(recorded[0]) for line in said) == 1


def test_a_program_that_does_not_end(tmp_path):
    """Each line of the file is an option, whatever it has in it, also for the data."""
    (tmp_path / "app.runs").write_text("--serve")
    (tmp_path / "app.ready").write_text("--until-listening=80\n--request=get 'a  b' *")
    for name in ("frontload", "valgrind"):
        stand_in = tmp_path / name
        stand_in.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >>{tmp_path}/said\n'
                            f'echo >>{tmp_path}/said\n')
        stand_in.chmod(0o755)
    subprocess.run([_TRAIN, "app", "app.map", tmp_path / "app.startup"], check=True, timeout=60,
                   env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, cwd=tmp_path)
    options = "--until-listening=80|--request=get 'a  b' *|-o|app.traces|--|app|--serve|"
    assert (tmp_path / "said").read_text().splitlines()[:2] == [
        f"record|{options}", f"record|--data|{options}"]
