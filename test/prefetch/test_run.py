"""frontload-run: prefetches a command and its libraries, and becomes the command."""

import os
import re
import signal
import subprocess

import noted
import pytest
from compiled import compile_to
from noted import COLD, PAGE
from places import SANITIZED


@pytest.fixture
def launcher(build):
    return build / "bin" / "frontload-run"


@pytest.fixture
def plain(program):
    """A program with a note that does not prefetch itself; a copy."""
    return program("-no-pie", copy=True)


def test_prefetches_the_program(plain, asked, launcher):
    """The front of a program that cannot prefetch itself is asked for."""
    assert asked(plain) == []
    assert asked(plain, launcher, plain.path) == plain.pieces()


def test_clears_the_mark_of_the_read_of_the_headers(plain, calls, launcher):
    """The kernel marks the second page. The program's touch of it would read on behind the front,
    so the launcher reads it once the front is asked for; not if the front is in memory."""
    wanted = re.compile(rf"(readahead|pread64)\(\d+<{plain.path}>, (.*, 1, {PAGE}\))?")

    def names(**options):
        return [found[1] for line in calls(launcher, plain.path, **options)
                if (found := wanted.search(line)) and (found[1] == "readahead" or found[2])]

    assert names() == ["readahead"] * len(plain.pieces()) + ["pread64"]
    assert names(inject=["preadv2:retval=1"]) == []


def test_finds_the_program_in_path(plain, asked, launcher):
    """A command without a slash is found as the shell finds it, behind what cannot be run."""
    folder, name = plain.path.parent, plain.path.name
    (folder / "folder" / name).mkdir(parents=True)
    (folder / "text").mkdir()
    (folder / "text" / name).write_text("not executable")
    path = f"PATH={folder}/folder:/nonexistent:{folder}/text:{folder}:{os.environ['PATH']}"
    assert asked(plain, "env", path, launcher, name) == plain.pieces()


def test_prefetches_needed_libraries(program, tmp_path, run, asked, launcher):
    """A library's front is asked for wherever the dynamic linker will find it: here by the
    environment, for a library that is found beside the program."""
    shared = program("-shared", "-fPIC", copy=True)
    folder = tmp_path / "some where => (0x"
    folder.mkdir()
    shared.path = shared.path.rename(folder / "libnoted.so")
    run("gcc", "-shared", "-xc", os.devnull, "-Wl,--no-as-needed", f"-L{folder}", "-lnoted",
        "-o", folder.parent / "libmiddle.so")
    run("gcc", "-xc", "-", "-Wl,--no-as-needed", f"-L{tmp_path}", "-lmiddle", "-Wl,-rpath,$ORIGIN",
        f"-Wl,-rpath-link,{folder}", "-o", tmp_path / "user", input="int main(void) { return 7; }")
    for prefix, expected in (((), []), ((launcher,), shared.pieces())):
        assert asked(shared, "env", f"LD_LIBRARY_PATH={folder}", *prefix,
                     tmp_path / "user") == expected


def test_becomes_the_command(launcher, spawn):
    """It has the launcher's id and end, and no descriptor more than the launcher had."""
    process = spawn(launcher, "--", "sh", "-c", "echo $$; ls /proc/self/fd; kill -TERM $$")
    said = process.communicate()[0].split()
    assert said == [str(process.pid), "0", "1", "2", "3"]  # 3 is the folder
    assert process.returncode == -signal.SIGTERM


def test_never_runs_the_command_twice(launcher, run, tmp_path):
    """To find the libraries the command is not run, be it static, dynamic or a script."""
    source = '#include <stdio.h>\nint main(void) { fputs("x", fopen("log", "a")); }'
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nprintf x >>log\n")
    script.chmod(0o755)
    programs = [compile_to(tmp_path / f"once{flag}", "gcc", flag, "once.c",
                           sources={"once.c": source}) for flag in ("-pie", "-static")]
    for runs, program in enumerate([*programs, script], start=1):
        run(launcher, program, cwd=tmp_path)
        assert (tmp_path / "log").read_text() == "x" * runs


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's shared library is watched, too")
@pytest.mark.parametrize("how", ["LD_AUDIT", "LD_DEBUG"])
def test_what_watches_the_dynamic_linker_sees_one_start(how, launcher, run, tmp_path):
    """That of the command, not that which finds its libraries."""
    auditor, program, log = tmp_path / "libauditor.so", tmp_path / "program", tmp_path / "log"
    run("gcc", "-shared", "-fPIC", "-xc", "-", "-o", auditor, input=f"""
        #include <fcntl.h>
        #include <unistd.h>
        unsigned la_version(unsigned version) {{
          int log = open("{log}.1", O_CREAT | O_WRONLY | O_APPEND, 0600);
          return write(log, "x", 1) == 1 ? version : 0;
        }}""")
    run("gcc", "-xc", "-", "-o", program, input="int main(void) { return 3; }")
    environment = {"LD_AUDIT": {"LD_AUDIT": str(auditor)},
                   "LD_DEBUG": {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)}}[how]
    run(launcher, program, env=os.environ | environment, code=3)
    (written,) = tmp_path.glob("log.*")
    assert how == "LD_DEBUG" or written.read_text() == "x"


def test_verbose_says_what_was_done(launcher, plain, run, calls):
    """--verbose names the files and sizes on stderr; without it nothing is said."""
    size = noted.front_offset(plain.path, plain.end) / 1e6
    assert run(launcher, plain.path, code=7, stdin=subprocess.DEVNULL).stderr == ""
    for looks, said in ((COLD, "asked for"), (["preadv2:retval=1"], "in memory already")):
        calls(launcher, "--verbose", plain.path, inject=looks)
        assert calls.result.stderr == (
            f"frontload-run: note: {plain.path}: {size:.1f} MB are {said}\n")
    assert run(launcher, "--verbose", "true").stderr == (
        "frontload-run: note: true: neither it nor a library it needs has a front\n")


@pytest.mark.parametrize("options, command, code", [
    (["--files=/missing"], ["sh", "-c", "exit 7"], 7), (["--verbose"], ["sh", "-c", "exit 7"], 7),
    ([], ["/missing"], 127)], ids=["list", "verbose", "command"])
def test_broken_stderr(launcher, run, options, command, code):
    """A message that cannot be written does not keep the command from running."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as broken, open("/dev/full", "w") as full:
        for stderr in (broken, full):
            run(launcher, *options, "--", *command, code=code, capture_output=False, stderr=stderr)


def test_its_own_signals_are_the_commands(launcher, run):
    """A write that nobody reads ends the command as ever, whatever had to be said before."""
    for ignored in ("", "trap '' PIPE; "):
        script = f'{ignored}"$@" --files=/missing -- grep SigIgn /proc/self/status'
        found = run("sh", "-c", script, "sh", launcher).stdout.split()[1]
        assert bool(int(found, 16) & 1 << signal.SIGPIPE - 1) == bool(ignored)


def test_without_path(launcher, run, tmp_path):
    """With PATH unset or empty the command is still found where exec finds it."""
    run(launcher, "true", env={})
    (tmp_path / "here").symlink_to("/bin/true")
    run(launcher, "here", env={"PATH": ""}, cwd=tmp_path)


@pytest.mark.parametrize(("arguments", "said"), [
    (["--"], "usage: frontload-run"), (["--unknown", "true"], "usage: frontload-run"),
    (["--device=tape", "true"], "is hdd")])
def test_wrong_use(launcher, run, arguments, said):
    assert said in run(launcher, *arguments, code=2).stderr
