"""frontload-run and frontload run: prefetch a command and its libraries, and become the command."""

import os
import signal
import subprocess

import noted
import pytest
from frontload.pagecache import cache as pagecache
from places import SANITIZED


@pytest.fixture
def launcher(build):
    return build / "bin" / "frontload-run"


@pytest.fixture
def plain(program):
    """A program with a note that does not prefetch itself; a copy."""
    return program("-no-pie", copy=True)


def test_prefetches_the_program(plain, prefetched, launcher):
    """The front of a program that cannot prefetch itself is in memory in main()."""
    assert prefetched(plain) < noted.HARDLY
    assert prefetched(plain, [launcher, plain.path]) == 1


def test_finds_the_program_in_path(plain, prefetched, launcher):
    """A command without a slash is found as the shell finds it, behind what cannot be run."""
    folder = plain.path.parent
    for name in ("folder", "text"):
        (folder / name).mkdir()
    (folder / "folder" / plain.path.name).mkdir()
    (folder / "text" / plain.path.name).write_text("not executable")
    path = f"{folder}/folder:/nonexistent:{folder}/text:{folder}:{os.environ['PATH']}"
    command = [launcher, plain.path.name]
    assert prefetched(plain, command, env=os.environ | {"PATH": path}) == 1


@pytest.mark.parametrize("how", ["rpath", "origin", "environment", "transitive"])
def test_prefetches_needed_libraries(program, linked, tmp_path, run, started, launcher, how):
    """A library's front is prefetched wherever the dynamic linker will find it."""
    shared = program("-shared", "-fPIC", copy=True)
    folder = tmp_path / "some where => (0x"
    folder.mkdir()
    path = folder / "libnoted.so"
    shared.path.rename(path)
    shared.path = path
    source, user = tmp_path / "user.c", tmp_path / "user"
    source.write_text("#include <stdio.h>\nint main(void) { puts(\"main\"); fflush(stdout); "
                      "getchar(); }")
    rpath = {"rpath": [f"-Wl,-rpath,{folder}"], "environment": [], "transitive": [],
             "origin": [f"-Wl,-rpath,$ORIGIN/{folder.name}"]}[how]
    needs = path
    if how == "transitive":
        (tmp_path / "empty.c").write_text("")
        needs = tmp_path / "libmiddle.so"
        run("gcc", "-shared", tmp_path / "empty.c", "-Wl,--no-as-needed", f"-L{folder}", "-lnoted",
            f"-Wl,-rpath,{folder}", "-o", needs)
        rpath = [f"-Wl,-rpath,{tmp_path}"]
    run("gcc", source, "-Wl,--no-as-needed", f"-L{needs.parent}", f"-l{needs.stem[3:]}", *rpath,
        f"-Wl,-rpath-link,{folder}", "-o", user)
    environment = os.environ | ({"LD_LIBRARY_PATH": str(folder)} if how == "environment" else {})

    def share(*command):
        pagecache.make_cold(path)
        with started(*command, env=environment) as process:
            assert process.lines == ["main\n"]
            return noted.share_read(path, noted.front_offset(path, shared.end))

    assert share(user) < noted.HARDLY
    assert share(launcher, user) == 1


def test_becomes_the_command(launcher, started):
    """The command has the launcher's process id, and no descriptor more than the launcher had."""
    with started(launcher, "--", "sh", "-c", "echo $$; ls /proc/self/fd", says=2) as process:
        assert process.lines[0] == f"{process.pid}\n"
        rest = process.stdout.read().split()
    assert [process.lines[1].strip(), *rest] == ["0", "1", "2", "3"]  # 3 is the folder


def test_hands_on_status_and_signals(launcher, run):
    """Exit status and signals are the command's, for commands that have no front too."""
    run(launcher, "sh", "-c", "exit 3", code=3)
    run(launcher, "sh", "-c", "kill -TERM $$", code=-signal.SIGTERM)


def test_never_runs_the_command_twice(launcher, run, tmp_path):
    """To find the libraries the command is not run, be it static, dynamic or a script."""
    source, program, log = tmp_path / "once.c", tmp_path / "once", tmp_path / "log"
    source.write_text('#include <stdio.h>\nint main(void) { fputs("x", fopen("log", "a")); }')
    for runs, flags in enumerate(([], ["-static"], ["-static-pie"]), start=1):
        run("gcc", source, *flags, "-o", program)
        run(launcher, program, cwd=tmp_path)
        assert log.read_text() == "x" * runs
    program.write_text("#!/bin/sh\nprintf x >>log\n")
    run(launcher, program, cwd=tmp_path)
    assert log.read_text() == "xxxx"


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's shared library is watched, too")
@pytest.mark.parametrize("how", ["LD_AUDIT", "DT_AUDIT", "DT_DEPAUDIT", "LD_DEBUG"])
def test_what_watches_the_dynamic_linker_sees_one_start(how, launcher, run, tmp_path):
    """To find the libraries, code that watches the dynamic linker is not run, and nothing is
    written for those who debug it; it is when the command starts."""
    auditor, program, log = tmp_path / "libauditor.so", tmp_path / "program", tmp_path / "log"
    (tmp_path / "auditor.c").write_text(f"""
        #include <fcntl.h>
        #include <unistd.h>
        unsigned la_version(unsigned version) {{
          int log = open("{log}.1", O_CREAT | O_WRONLY | O_APPEND, 0600);
          return write(log, "x", 1) == 1 ? version : 0;
        }}""")
    (tmp_path / "program.c").write_text("int main(void) { return 3; }")
    run("gcc", "-shared", "-fPIC", tmp_path / "auditor.c", "-o", auditor)
    flags = {"DT_AUDIT": ["--audit"], "DT_DEPAUDIT": ["--depaudit"]}.get(how, [])
    run("gcc", tmp_path / "program.c", *(f"-Wl,{flag}={auditor}" for flag in flags), "-o", program)
    environment = {"LD_AUDIT": {"LD_AUDIT": str(auditor)},
                   "LD_DEBUG": {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)}}.get(how, {})
    run(launcher, program, env=os.environ | environment, code=3)
    written = list(tmp_path.glob("log.*"))
    assert len(written) == 1
    assert how == "LD_DEBUG" or written[0].read_text() == "x"


def test_verbose_says_what_was_done(launcher, plain, run):
    """--verbose names the files and sizes on stderr; without it nothing is said."""
    pagecache.make_cold(plain.path)
    size = noted.front_offset(plain.path, plain.end) / 1e6
    assert run(launcher, plain.path, code=7, stdin=subprocess.DEVNULL).stderr == ""
    pagecache.settled(plain.path)
    assert run(launcher, "--verbose", plain.path, code=7, stdin=subprocess.DEVNULL).stderr == (
        f"frontload-run: note: {plain.path}: {size:.1f} MB are in memory already\n")
    assert run(launcher, "--verbose", "true").stderr == (
        "frontload-run: note: true: neither it nor a library it needs has a front\n")


@pytest.mark.parametrize("stderr", ["a pipe without a reader", "a full device"])
@pytest.mark.parametrize("options, command, code", [
    (["--files=/missing"], ["sh", "-c", "exit 7"], 7), (["--verbose"], ["sh", "-c", "exit 7"], 7),
    ([], ["/missing"], 127)], ids=["list", "verbose", "command"])
def test_broken_stderr(launcher, run, options, command, code, stderr):
    """A message that cannot be written does not keep the command from running."""
    if stderr == "a full device":
        writing = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, writing = os.pipe()
        os.close(reading)
    run(launcher, *options, "--", *command, code=code, capture_output=False, stderr=writing)
    os.close(writing)


def test_its_own_signals_are_the_commands(launcher, run):
    """A write that nobody reads ends the command as ever, whatever had to be said before."""
    for ignored in ("", "trap '' PIPE; "):
        script = f"{ignored}{launcher} --files=/missing -- grep SigIgn /proc/self/status"
        found = run("sh", "-c", script).stdout.split()[1]
        assert bool(int(found, 16) & 1 << signal.SIGPIPE - 1) == bool(ignored)


@pytest.mark.parametrize("name, code", [("./missing", 127), ("missing", 127), ("/", 126)])
def test_a_command_that_cannot_be_run(launcher, run, name, code):
    """A message, and the exit code a shell would give."""
    result = run(launcher, name, code=code)
    assert result.stderr.startswith(f"frontload-run: error: {name}: cannot be run: ")
    assert "\nfrontload-run: note: give its path" in result.stderr


def test_without_path(launcher, run, tmp_path):
    """With PATH unset or empty the command is still found where exec finds it."""
    run(launcher, "true", env={})
    (tmp_path / "here").symlink_to("/bin/true")
    run(launcher, "here", env={"PATH": ""}, cwd=tmp_path)


@pytest.mark.parametrize("arguments", [[], ["--"], ["--unknown", "true"]])
def test_wrong_use(launcher, run, arguments):
    """A wrong command line is refused with exit 2 and the usage."""
    assert "usage: frontload-run" in run(launcher, *arguments, code=2).stderr


def test_the_verb(frontload, plain, prefetched, build):
    """frontload run does the same."""
    command = [build / "bin" / "frontload", "run", "--", plain.path]
    assert prefetched(plain, command) == 1
    frontload("run", "--", "sh", "-c", "exit 3", code=3)
    assert "in memory already" in frontload("run", "--verbose", plain.path, code=7,
                                            stdin=subprocess.DEVNULL).stderr
    frontload("run", code=2)


def test_the_verb_changes_nothing_for_the_command(frontload):
    """The command sees the environment and the signals as they were."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("PYTHON", "FRONTLOAD"))}
    seen = {line.partition("=")[0]
            for line in frontload("run", "--", "env", env=clean).stdout.splitlines()}
    assert seen - clean.keys() <= {"_", "PWD", "OLDPWD", "SHLVL", "LC_CTYPE"}
    ignored = frontload("run", "--", "grep", "SigIgn", "/proc/self/status").stdout.split()[1]
    assert not int(ignored, 16) & 1 << signal.SIGPIPE - 1
