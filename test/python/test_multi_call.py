"""Programs that do what their own name says, as busybox, clang and git do: whatever starts one for
the user starts it by the user's name for it."""

import os
import shutil

import pytest
from abilities import needs
from frontload.profile import format as profile
from linking import check_run

pytestmark = pytest.mark.usefixtures("tools")
BOX = """
#include <stdio.h>
#include <string.h>
#define F(name) __attribute__((noinline)) static int name(const char *called) { \\
  printf(#name " %s\\n", called); return 0; }
F(one) F(two)
int main(int argc, char **argv) {
  const char *name = strrchr(argv[0], '/');
  name = name ? name + 1 : argv[0];
  return !strcmp(name, "one") ? one(argv[0]) : !strcmp(name, "two") ? two(argv[0]) : 127;
}
"""


@pytest.fixture
def box(link, tmp_path, monkeypatch):
    """The program `box`; ./one is a link to it, and `two`, in PATH, a link to such a link."""
    program = link(source=BOX, name="box")
    (tmp_path / "bin").mkdir()
    (tmp_path / "one").symlink_to("box")
    (tmp_path / "two").symlink_to(program.path)
    (tmp_path / "bin/two").symlink_to("../two")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return program


@needs("ptrace")
@pytest.mark.parametrize("name", ["./one", "two"])
@pytest.mark.parametrize("launcher", [
    ["frontload-exec", "--fd=1"], ["frontload-run"], ["frontload-trace", "--output=t.%p"],
    pytest.param(["frontload-valgrind", "--output=t.%p"], marks=needs("program:valgrind"))])
def test_a_launcher_keeps_the_name(box, build, run, launcher, name):
    said = run(build / "bin" / launcher[0], *launcher[1:], "--", name).stdout
    assert said.startswith(f"{name.strip('./')} {name}\n")


@needs("ptrace")
def test_a_recording_by_a_link_is_of_the_program(box, cli, tmp_path):
    """And the link names it, where a trace or another tool's text has the program's name."""
    cli("record", "-o", "traces", "--", "./one")
    cli("profile", "traces", "--program", "./one", "-o", "p")
    assert b"one" in {name.name for name in profile.read("p").touches}
    (tmp_path / "text").write_text(f"app 5/5 1.5: cycles: 12 main ({box.path})\n")
    said = cli("import", "--format=perf", "text", "--binary", "one", "-o", "q").err
    assert "1 of 1 name" in said


@pytest.mark.parametrize("words", [["two"], ["./one"], ["./box"], ["sh", "-c", "{}"]])
def test_measured_and_tried_by_its_name(box, cli, tmp_path, words):
    """`auto` runs its own builds of the program; ./box itself has nothing to do, and fails."""
    shutil.copy(box.path, tmp_path / "kept")
    program = ["--program", "two"] if "{}" in words else []
    if not program:
        code = 127 if words == ["./box"] else 0
        ran = cli("measure", "--runs=1", "--warmup=0", "--ignore-failure", "--json=m", "--", *words)
        assert ("exited with status 127" in ran.err) == bool(code)
    result = cli("auto", "--runs=1", "--no-data", "--recordings=1", "--min-coverage=0", *program,
                 "--link", f"{shutil.which('cc')} box.o -o box", "--build-folder", tmp_path,
                 "--", *words, code=None)
    is_applet = words != ["./box"]
    assert ("is this the intended startup" in result.err) != is_applet
    touched = {name.name for name in profile.read("box.startup").touches}
    assert touched & {b"one", b"two"} == ({b"one" if words == ["./one"] else b"two"}
                                          if is_applet else set())
    check_run("cmp", box.path, tmp_path / "kept")
