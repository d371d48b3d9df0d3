"""The prefetch library and the launchers on other processors, under QEMU's user mode, which can
list the system calls that a program makes."""

import json
import re

import crossed
import pytest
from linking import LD_FRONTLOAD, write_profile

PROGRAM = """
#include <stdio.h>
static int values[64] = {1, 2, 3};
__attribute__((noinline)) int hot(int x) { return values[x & 3]; }
int main(int argc, char **argv) { printf("%d\\n", hot(argc)); return 3; }
"""


@pytest.mark.parametrize(("name", "flags"), [
    ("libfrontload-prefetch.so", ["-fPIE", "-pie", "-Wl,--no-as-needed"]),
    ("libfrontload-prefetch.a",
     ["-fno-pie", "-static", "-Wl,-u,frontload_prefetch_at_start"])], ids=["library", "archive"])
def test_the_front_is_asked_for_before_main(cross, name, flags, tmp_path):
    """Once, from its beginning, by readahead(2). The program is of clang and lld, whoever built the
    library."""
    profile, library = write_profile(tmp_path, "main", "hot"), cross.build / "lib" / name
    program = crossed.Cross(cross.processor, is_clang=True).compile(
        PROGRAM, "-ffunction-sections", f"--ld-path={LD_FRONTLOAD}", "-Wl,--front-always",
        f"-Wl,--startup-profile={profile}", *flags, library)
    result = cross.run(program, qemu=["-strace"], environment=cross.library_path, code=3)
    assert result.stdout == "2\n"
    asked = re.findall(r"readahead\(\d+,(\d+),(\d+)", result.stderr)
    assert asked and asked[0][0] == "0" and len(asked) == len(set(asked))
    assert result.stderr.rindex("readahead(") < result.stderr.index("write(1")


def test_the_launchers(cross, tmp_path):
    """The command runs in the place of frontload-run. (To read its list it takes preadv2(2), which
    QEMU 7.2 does not know. So nothing is asked for here; test/aarch64 runs the tests that look.)
    frontload-exec says what a command cost."""
    files, counts = tmp_path / "app.files", tmp_path / "counts"
    files.write_text("frontload-files 1\nruns 1\n")
    command = ["sh", "-c", "echo started; exit 5"]
    for name, option in (("run", f"--files={files}"), ("exec", f"--output={counts}")):
        program = cross.build / f"bin/frontload-{name}"
        assert cross.run(program, option, *command, code=5).stdout == "started\n"
        assert f"frontload-{name}" in cross.run(program, "--help").stdout
    assert json.loads(counts.read_text())["exit_status"] == 5
