"""Which files a command is seen to read, by strace's text, and what it needs to be loaded."""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from abilities import needs
from compiled import compile_to
from frontload.base.errors import Failure
from frontload.elf import dependencies
from frontload.measure import seen as measure_seen
from frontload.measure.conditions import COLD, SELECTIVELY_COLD, WARM
from frontload.measure.launcher import Launcher, Sample
from frontload.measure.plan import Plan, Variant
from frontload.tracing import strace
from frontload.tracing.strace import Call
from hypothesis import given
from hypothesis import strategies as st

# Opens two files, reads one, and runs a script from its folder by a name without one.
SOURCE = r"""
#include <fcntl.h>
#include <unistd.h>
int library(void);
int main(int argc, char **argv) {
  char text[10];
  if (chdir(argv[1])) return 1;
  int read_one = open("read", O_RDONLY), opened = open("not-read", O_RDONLY);
  int written = open("written", O_WRONLY | O_CREAT, 0600);
  if (read(read_one, text, 10) < 0 || opened < 0 || write(written, "x", 1) < 0) return 1;
  if (library()) execl("bin/script", "script", (char *)0);
  return 1;
}
"""


@pytest.fixture
def program(tmp_path) -> Path:
    """A program in bin/ that finds its library in lib/, from its own place."""
    for folder in ("bin", "lib", "work/bin"):
        (tmp_path / folder).mkdir(parents=True)
    shell = shutil.copy(shutil.which("sh"), tmp_path / "shell")
    (tmp_path / "work/bin/script").write_text(f"#!{shell} -e\nexit 0\n")
    (tmp_path / "work/bin/script").chmod(0o755)
    for name in ("read", "not-read"):
        (tmp_path / "work" / name).write_bytes(os.urandom(5000))
    library = compile_to(tmp_path / "lib/liblibrary.so.1", "cc", "-shared", "-fPIC",
                         "-Wl,-soname=liblibrary.so.1", "library.c",
                         sources={"library.c": "int library(void) { return 1; }"})
    return compile_to(tmp_path / "bin/program", "cc", "program.c", library,
                      "-Wl,-rpath,$ORIGIN/../lib", sources={"program.c": SOURCE})


@needs("strace", "tmp-on-disk")
def test_what_is_read_is_seen(program, tools):
    """Of the whole process tree; what was only opened, or written, is not."""
    folder = program.parents[1]
    seen = measure_seen.find([str(program), f"{folder}/work"], [str(program)], Launcher())
    ours = [file.removeprefix(f"{folder}/") for file in seen.files if file.startswith(str(folder))]
    assert ours == ["lib/liblibrary.so.1", "shell", "work/bin/script", "work/read"]
    assert not [file for file in seen.invisible if file.startswith(str(folder))]


def read_calls(lines, folder):
    return measure_seen.read_calls(list(strace.calls(lines)), folder)


def test_relative_programs_are_sought_in_all_folders():
    """strace does not say where execve's path begins; any folder that a process was in may be."""
    found = read_calls([
        'execve("./app", ["./app"], 0x7ffd /* 10 vars */) = 0',
        'chdir("sub") = 0',
        'openat(AT_FDCWD</home>, "x", O_RDONLY|O_CLOEXEC) = 3</home/x>',
        'openat(4</srv>, "d", O_RDONLY|O_DIRECTORY) = 3</srv/d>',
        'open("log", O_WRONLY|O_APPEND) = 3</home/log>',
        'execveat(3</home/x>, "", ["x"], NULL, AT_EMPTY_PATH) = 0',
        'execveat(3</opt>, "y", ["y"], NULL, 0) = 0'], "/start")
    assert set(found) == {
        "/start/./app", "/start/sub/./app", "/home/./app", "/home/sub/./app", "/home/x", "/opt/y"}


@needs("strace", "tmp-on-disk")
def test_what_a_command_writes_can_be_left_out(tools, tmp_path):
    """It would find no place for a new file where a copy covers the old one."""
    for name in ("read", "written", "replaced"):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (1, 1))
    script = "cat read written replaced; : <>written; cp read new; mv new replaced"
    command = ["sh", "-c", f"cd {tmp_path} && {script}"]
    for only_read, expected in ((False, ["read", "replaced", "written"]), (True, ["read"])):
        opened = measure_seen.opened(command, Launcher(), only_read=only_read)
        assert [Path(file).name for file in opened if file.startswith(str(tmp_path))] == expected


# Runs nothing, and writes no calls.
NO_STRACE = SimpleNamespace(waits_for_function=False, run=lambda command, stdout: Sample(
    1, None, 1, 0, 0, 0, 0, 0, 0, 0, 0, "Operation not permitted"))


@pytest.mark.parametrize("conditions, evict_seen, looks", [
    ((SELECTIVELY_COLD, WARM), False, False), ((WARM,), True, False), ((COLD,), False, True),
    ((SELECTIVELY_COLD,), True, True)])
def test_only_who_needs_to_know_looks(conditions, evict_seen, looks, monkeypatch):
    """For --cold and --evict-seen; what nobody tells without root is said."""
    monkeypatch.setattr(measure_seen, "find",
                        lambda *arguments: measure_seen.Seen(("/x",), ("/usr/lib/x",)))
    plan = Plan((Variant("a", ("a",), ("a",)),), conditions=conditions, evict_seen=evict_seen)
    found, missing = measure_seen.look(plan, NO_STRACE)
    assert (found.variants[0].seen == ("/x",)) == looks
    assert [("/usr/lib/x" in each.what, each.remedy) for each in missing] == [
        (True, "measure as root")] * looks


def test_without_strace(monkeypatch):
    """--evict-seen is refused with what gives it; a cold run is made, and says what is unknown."""
    variants = (Variant("a", ("a",), ("a",)),)
    for path in ("", os.environ["PATH"]):  # without it, and where it may not watch
        monkeypatch.setenv("PATH", path)
        with pytest.raises(Failure) as refusal:
            measure_seen.look(Plan(variants, (SELECTIVELY_COLD,), evict_seen=True), NO_STRACE)
        assert "apt-get install strace" in refusal.value.note
        plan, (missing,) = measure_seen.look(Plan(variants, (COLD,)), NO_STRACE)
        assert plan.variants == variants
        assert "strace" in missing.remedy


def test_libraries_beside_a_program(program):
    """$ORIGIN is the folder of the program itself, however it is called."""
    library = str(program.parents[1] / "lib/liblibrary.so.1")
    (program.parents[1] / "link").symlink_to("bin/program")
    assert dependencies.beside(program.parents[1] / "link") == [library]
    assert dependencies.beside(library) == dependencies.beside("/bin/sh") == []


def test_interpreters(program, tmp_path):
    """An ELF program names its loader, a script its interpreter; other and damaged files none."""
    assert "ld" in os.path.basename(dependencies.interpreter(program))
    (tmp_path / "script").write_bytes(b"#!/bin/\xff -x\n")
    assert dependencies.interpreter(tmp_path / "script") == "/bin/\udcff"
    for text in (b"#!\n", b"text", b"", b"\x7fELF" + bytes(100), program.read_bytes()[:700]):
        (tmp_path / "file").write_bytes(text)
        assert not dependencies.interpreter(tmp_path / "file")
        assert not dependencies.beside(tmp_path / "file")


@needs("strace", "tmp-on-disk")
def test_seen_files_are_evicted(program, cli, tools, tmp_path):
    """--evict-seen: a selectively cold run reads the library and the data, too."""
    cli("measure", "--selectively-cold", "--evict-seen", "--runs=1", f"--json={tmp_path}/result",
        "--", program, tmp_path / "work")
    document = json.loads((tmp_path / "result").read_text())
    (run,) = document["results"][0]["runs"]
    assert run["files"][f"{tmp_path}/work/read"]["read_bytes"] == 5000
    assert run["files"][str(program)]["resident_pages_before"] == 0
    assert {file["path"]: file["named"] for file in document["files"]}[f"{tmp_path}/shell"] is False


def call(name, *, base=None, is_in_folder=False, path=None, arguments=(), flags=(), result=0,
         opened=None) -> Call:
    return Call(name, base, is_in_folder, path, arguments, frozenset(flags), result, opened)


@pytest.mark.parametrize("line, expected", [
    ('execve("/bin/sh", ["sh", "-c", "a) = 5 \\"b"], 0x7f /* 9 vars */) = 0',
     call("execve", path="/bin/sh", arguments=("sh", "-c", 'a) = 5 "b'))),
    ('execve("sh", ["sh"], NULL) = -1 ENOENT (No such file or directory)',
     call("execve", path="sh", arguments=("sh",), result=-1)),
    ('execve("sh", ["sh", "long"...], NULL) = 0', call("execve", path="sh")),
    ('openat(AT_FDCWD</a>, "O_PATH", O_RDONLY|O_CLOEXEC) = 3</a/O_PATH>',
     call("openat", base="/a", is_in_folder=True, path="O_PATH", flags=("O_RDONLY", "O_CLOEXEC"),
          result=3, opened="/a/O_PATH")),
    ('openat(4, "x", O_RDONLY) = 3</x) = 5>',
     call("openat", path="x", flags=("O_RDONLY",), result=3, opened="/x) = 5")),
    ('openat2(AT_FDCWD</a>, "x", {flags=O_RDONLY|O_DIRECTORY, resolve=0}, 24) = 3</a/x>',
     call("openat2", base="/a", is_in_folder=True, path="x", flags=("O_RDONLY", "O_DIRECTORY"),
          result=3, opened="/a/x")),
    ('17 fchdir(3</srv\\74>)   = 0', call("fchdir", base="/srv<")),
    ('chdir("\\777\\x")         = 0', call("chdir", path="\udcffx")),
    ("exit_group(0)            = ?", call("exit_group", result=None)),
])
def test_a_call_is_told_with_its_paths(line, expected):
    """Strings may hold anything, also what looks like a result or a flag."""
    assert list(strace.calls([line])) == [expected]


@given(st.text(alphabet='8 execvopnatchdir(AT_FDCWD,"\\<>[]){}=0x3|/*.-?'))
def test_what_is_no_call_is_passed_over(text):
    """Ends of calls that were told of before, signals, exits, and what is no text of strace's."""
    assert not list(strace.calls(["8 <... execve resumed>) = 0", "--- SIGCHLD {} ---",
                                  "+++ exited with 0 +++", "", "8", "= 3<", "\u2028"]))
    list(strace.calls([text, f'execve({text}', f'openat(AT_FDCWD<{text}', f'chdir("x{text}']))
