"""Which files a command is seen to read, and what it needs to be loaded."""

import json
import os
import shutil
from pathlib import Path

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
        'execve("/gone", ["/gone"], 0x7ffd) = -1 ENOENT (No such file or directory)',
        'chdir("sub") = 0',
        'openat(AT_FDCWD</home>, "x", O_RDONLY|O_CLOEXEC) = 3</home/x>',
        'openat(4</srv>, "d", O_RDONLY|O_DIRECTORY) = 3</srv/d>',
        'open("log", O_WRONLY|O_APPEND) = 3</home/log>',
        'execveat(3</home/x>, "", ["x"], NULL, AT_EMPTY_PATH) = 0',
        'execveat(3</opt>, "y", ["y"], NULL, 0) = 0'], "/start")
    assert set(found) == {
        "/start/./app", "/start/sub/./app", "/home/./app", "/home/sub/./app", "/home/x", "/opt/y"}


def test_names_are_read_as_strace_writes_them():
    """Quotes, spaces, brackets, newlines and bytes that are no ASCII come back as they were."""
    name = "/a \"b\" <c>\n\\d\u00e9"
    text = r'/a "b" \74c\76\n\\d\303\251'
    quoted = text.replace('"', r'\"')
    assert read_calls([f'openat(AT_FDCWD</>, "x", O_RDONLY) = 3<{text}>',
                       f'execve("{quoted}", [], 0x1) = 0'], "/") == [name]
    assert read_calls(["", "garbage", "open(", '= 3<', "\u2028"], "/") == []


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


class NoStrace:
    """Runs nothing, and writes no calls."""

    waits_for_function = False

    def run(self, command, stdout):
        return Sample(1, None, 1, 0, 0, 0, 0, 0, 0, 0, 0, "Operation not permitted")


@pytest.mark.parametrize("conditions, evict_seen, looks", [
    ((SELECTIVELY_COLD, WARM), False, False), ((WARM,), True, False), ((COLD,), False, True),
    ((SELECTIVELY_COLD,), True, True)])
def test_only_who_needs_to_know_looks(conditions, evict_seen, looks, monkeypatch):
    """For --cold and --evict-seen; what nobody tells without root is said."""
    monkeypatch.setattr(measure_seen, "find",
                        lambda *arguments: measure_seen.Seen(("/x",), ("/usr/lib/x",)))
    plan = Plan((Variant("a", ("a",), ("a",)),), conditions=conditions, evict_seen=evict_seen)
    found, missing = measure_seen.look(plan, NoStrace())
    assert (found.variants[0].seen == ("/x",)) == looks
    assert [("/usr/lib/x" in each.what, each.remedy) for each in missing] == [
        (True, "measure as root")] * looks


def test_without_strace(monkeypatch):
    """--evict-seen is refused with what gives it; a cold run is made, and says what is unknown."""
    variants = (Variant("a", ("a",), ("a",)),)
    for path in ("", os.environ["PATH"]):  # without it, and where it may not watch
        monkeypatch.setenv("PATH", path)
        with pytest.raises(Failure) as refusal:
            measure_seen.look(Plan(variants, (SELECTIVELY_COLD,), evict_seen=True), NoStrace())
        assert "apt-get install strace" in refusal.value.note
        plan, (missing,) = measure_seen.look(Plan(variants, (COLD,)), NoStrace())
        assert plan.variants == variants
        assert "strace" in missing.remedy


def test_libraries_beside_a_program(program):
    """$ORIGIN is the folder of the program itself, however it is called."""
    library = str(program.parents[1] / "lib/liblibrary.so.1")
    (program.parents[1] / "link").symlink_to("bin/program")
    assert dependencies.beside(program) == [library]
    assert dependencies.beside(program.parents[1] / "link") == [library]
    assert dependencies.beside(library) == dependencies.beside("/bin/sh") == []


def test_interpreters(program, tmp_path):
    """An ELF program names its loader, a script its interpreter; other and damaged files none."""
    assert "ld" in os.path.basename(dependencies.interpreter(program))
    (tmp_path / "script").write_bytes(b"#!/bin/\xff -x\n")
    assert dependencies.interpreter(tmp_path / "script") == "/bin/\udcff"
    for text in (b"#!\n", b"text", b"", b"\x7fELF" + bytes(100), program.read_bytes()[:700]):
        (tmp_path / "file").write_bytes(text)
        assert dependencies.interpreter(tmp_path / "file") is None
        assert dependencies.beside(tmp_path / "file") == []


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
