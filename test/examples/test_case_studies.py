"""examples/case-studies: the scripts, each with a small program in the place of a large one; and
the commands of docs/case-studies.md."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from abilities import needs
from coldbench import heldout, race, start
from frontload.verbs import faults
from linking import check_run
from places import ROOT

CASES = ROOT / "examples/case-studies"
# Takes the folder of its data, and answers there.
SERVER = """
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (argc < 3 || getuid() == 0 || chdir(argv[2]) || !fopen("answer", "w")) return 1;
  puts("ready to accept connections");
  fflush(stdout);
  for (;;) pause();
}
"""
MAKEFILE = """
src/backend/postgres: main.c
\tmkdir -p $(@D) && cc -g -ffunction-sections $< -o $@
"""


@needs("another-user", "loop-devices", "throttle", "ptrace", "strace")
def test_a_server(build):
    """It is built, recorded and measured as another user, to its answer."""
    with tempfile.TemporaryDirectory(prefix="frontload-server.") as scratch:
        os.chmod(scratch, 0o755)
        folder = Path(scratch)
        for name, text in {"source/Makefile": MAKEFILE, "source/main.c": SERVER,
                           "installed/bin/psql": f"#!/bin/sh\nexec test -e {folder}/data/answer\n"
                           }.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        (folder / "installed/bin/psql").chmod(0o755)
        (folder / "data").mkdir()
        (folder / "data").chmod(0o777)
        check_run("make", "-C", folder / "source")
        result = subprocess.run(
            [CASES / "server", folder, "--runs=1", "--no-data", "--recordings=1"], text=True,
            capture_output=True, env=os.environ | {"PATH": f"{build}/bin:{os.environ['PATH']}"})
        assert result.stdout, result.stderr
        # So small a program gains nothing.
        assert result.stdout.splitlines()[-1].startswith("not worth it: "), result.stderr
        assert "selectively cold: major faults" in result.stdout
        assert (folder / "source/src/backend/postgres.front").exists()


def test_images(tmp_path):
    """What the script calls takes these arguments, and prints the lines that it shows."""
    (tmp_path / "examples/case-studies").mkdir(parents=True)
    shutil.copy(CASES / "image", tmp_path / "examples/case-studies")
    (tmp_path / "build/bench/cc1").mkdir(parents=True)
    calls = tmp_path / "calls"
    for program in ("bench/race", "build/bin/frontload"):
        (tmp_path / program).parent.mkdir(exist_ok=True)
        (tmp_path / program).write_text(f'#!/bin/sh\necho "$*" >>{calls}\n'
                                        "echo 'KiB requested from devices'\n")
        (tmp_path / program).chmod(0o755)
    shown = check_run(tmp_path / "examples/case-studies/image").splitlines()
    built, *recorded = [line.split() for line in calls.read_text().splitlines()]
    assert race.parse(built).workloads == ["cc1"]
    parsed = [faults.make_parser().parse_args(each[1:]) for each in recorded]
    assert all((ROOT / Path(each[-1]).relative_to(tmp_path)).exists() for each in recorded)
    assert len({(each.device, each.command[0]) for each in parsed}) == 6 == len(shown) - 2


def test_the_commands_of_the_page_exist():
    page = (ROOT / "docs/case-studies.md").read_text()
    commands = [shlex.split(each, comments=True)
                for each in re.findall(r"(?s)```sh\n(.*?)```", page)]
    parsers = {"bench/race": race, "bench/heldout": heldout, "bench/start": start}
    for program, *arguments in commands:
        assert os.access(ROOT / program, os.X_OK)
        if program in parsers:
            parsers[program].parse(arguments)
    assert {ROOT / program for program, *_ in commands} > set(CASES.iterdir())
