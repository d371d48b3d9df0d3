"""examples/case-studies: the scripts, each with a small program in the place of a large one."""

import os
import subprocess
import tempfile
from pathlib import Path

from abilities import needs
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
