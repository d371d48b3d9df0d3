"""The prefetch library and the launchers on other processors, under QEMU's user mode, which can
list the system calls that a program makes."""

import json
import re

import pytest
from linking import LD_FRONTLOAD, write_profile

PROGRAM = """
#include <stdio.h>
static int values[64] = {1, 2, 3};
__attribute__((noinline)) int hot(int x) { return values[x & 3]; }
int main(int argc, char **argv) { printf("%d\\n", hot(argc)); return 3; }
"""
_WAYS = {"library": ("libfrontload-prefetch.so", ["-fPIE", "-pie", "-Wl,--no-as-needed"]),
         "archive": ("libfrontload-prefetch.a",
                     ["-fno-pie", "-static", "-Wl,-u,frontload_prefetch_at_start"])}


@pytest.fixture
def fronted(cross, tmp_path):
    """fronted(*flags): a program with a front, of clang and lld whoever built the library."""
    def fronted(*flags):
        clang = crossed_by_clang(cross)
        profile = write_profile(tmp_path, "main", "hot")
        return clang.compile(PROGRAM, "-ffunction-sections", f"--ld-path={LD_FRONTLOAD}",
                             f"-Wl,--startup-profile={profile}", "-Wl,--front-always", *flags)

    return fronted


def crossed_by_clang(cross):
    return type(cross)(cross.processor, is_clang=True)


@pytest.mark.parametrize("way", _WAYS)
def test_the_front_is_asked_for_before_main(cross, way, fronted):
    """Once, from its beginning, by readahead(2)."""
    name, flags = _WAYS[way]
    program = fronted(*flags, cross.build / "lib" / name)
    result = cross.run(program, qemu=["-strace"], environment=cross.library_path, code=3)
    assert result.stdout == "2\n"
    asked = re.findall(r"readahead\(\d+,(\d+),(\d+)", result.stderr)
    assert asked and asked[0][0] == "0" and len(asked) == len(set(asked))
    assert result.stderr.rindex("readahead(") < result.stderr.index("write(1")


def test_frontload_run_with_a_reading_list(cross, tmp_path):
    """The command runs in its place. (To read the list it takes preadv2(2), which QEMU 7.2 does not
    know. So nothing is asked for here; test/aarch64 runs the tests that look.)"""
    listed = tmp_path / "listed"
    listed.write_bytes(bytes(1 << 20))
    files = tmp_path / "app.files"
    changed = "{}.{:09}".format(*divmod(listed.stat().st_mtime_ns, 10 ** 9))
    files.write_text("frontload-files 1\nruns 1\n"
                     f"file\t{listed}\t{1 << 20}\t{changed}\t-\n\t0+1048576\t0\t1\tread\n")
    result = cross.run(cross.build / "bin/frontload-run", f"--files={files}", "sh", "-c",
                       "echo started; exit 5", code=5)
    assert result.stdout == "started\n"


def test_frontload_exec_says_what_a_command_cost(cross, tmp_path):
    """Its line is there, and the status is the command's."""
    counts = tmp_path / "counts"
    cross.run(cross.build / "bin/frontload-exec", f"--output={counts}", "--", "sh", "-c", "exit 5",
              code=5)
    assert json.loads(counts.read_text())["exit_status"] == 5


def test_what_the_launchers_say(cross):
    """Their own command lines."""
    for name in ("frontload-run", "frontload-exec"):
        assert name in cross.run(cross.build / "bin" / name, "--help").stdout
        assert cross.run(cross.build / "bin" / name, "--no-such-option", code=2).stderr
