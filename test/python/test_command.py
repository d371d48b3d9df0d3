"""The frontload command as installed and as built: help, exit codes, streams, environment."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest
from frontload.base import console, errors, files
from frontload.machine import linkers, probes

FRONTLOAD = [sys.executable, "-m", "frontload"]
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def test_wrong_use_is_exit_2(frontload, tmp_path):
    """Without a verb the built command shows in ten lines what to type next, on stderr."""
    for name in ("numpy.py", "profile.py", "frontload.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the current folder')")
    result = frontload(code=2, cwd=tmp_path)
    assert result.stdout == "" and "usage: frontload" in result.stderr
    assert len(result.stderr.splitlines()) <= 10 and "frontload auto -- " in result.stderr


def test_a_recorded_program_does_not_see_the_launchers_environment(frontload, tmp_path):
    """The launcher changes nothing that the recorded program inherits."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("PYTHON", "FRONTLOAD"))}
    result = frontload("record", "--with", "runtime", "-o", tmp_path, "--", "env", env=clean,
                       code=1)
    seen = {line.partition("=")[0] for line in result.stdout.splitlines()}
    assert seen - clean.keys() <= {"FRONTLOAD_TRACE", "_", "PWD", "OLDPWD", "SHLVL", "LC_CTYPE"}


def test_a_closed_pipe_is_no_error():
    with subprocess.Popen([*FRONTLOAD, "info", "--json=-"], text=True, env=BUFFERED,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0


def test_a_full_disk_is_an_error(link, tmp_path):
    """Data that cannot be written to stdout is an error, not a silent loss."""
    trace = link().trace(tmp_path / "t", "main")
    for environment in (BUFFERED, BUFFERED | {"PYTHONUNBUFFERED": "1"}):
        with open("/dev/full", "w") as full:
            result = subprocess.run([*FRONTLOAD, "profile", trace], stdout=full, text=True,
                                    stderr=subprocess.PIPE, env=environment)
        assert result.returncode == 2 and "Exception" not in result.stderr
        assert "No space left on device\nfrontload: note: make room there" in result.stderr


def test_closed_streams_are_not_mistaken_for_files(link, tmp_path):
    """What would have gone to a closed stream gets into no file that takes its number."""
    trace = link().trace(tmp_path / "t", "main")
    outputs = []
    for closed in ("", ">&-", "<&- >&- 2>&-"):
        def run(*arguments, closed=closed):
            return subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *FRONTLOAD, *arguments],
                                  capture_output=True)
        result = run("profile", trace, trace, "-o", tmp_path / "out")
        assert result.returncode == 0, result.stderr
        outputs.append((tmp_path / "out").read_bytes())
        if closed:
            result = run("profile", trace)
            assert result.returncode == 2 and b"Traceback" not in result.stderr
            assert closed != ">&-" or b"Bad file descriptor" in result.stderr
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize("problem", [ZeroDivisionError("division\nby zero"), ValueError()])
def test_a_defect_is_no_verdict(cli, monkeypatch, problem):
    """What nobody expected exits 70 with one line and what to do, and the traceback if asked."""
    def fail():
        raise problem

    monkeypatch.setattr(linkers, "find", fail)
    monkeypatch.setattr(probes, "abilities", list)
    monkeypatch.delenv("FRONTLOAD_DEBUG", raising=False)
    said = cli("info", code=70).err.splitlines()
    words = " ".join(str(problem).split())
    assert said[-2] == f"frontload: error: info: {type(problem).__name__}" + f": {words}" * bool(
        words)
    assert "FRONTLOAD_DEBUG=1" in said[-1] and "Traceback" not in "\n".join(said)
    monkeypatch.setenv("FRONTLOAD_DEBUG", "1")
    assert "Traceback" in cli("info", code=70).err


def test_names_are_escaped_on_a_terminal(monkeypatch, capfdbinary):
    """Data goes to a file or pipe as it is, and to a terminal without what could steer it."""
    files.write_output(None, b"a\x1b[31m\xff\tb\n")
    assert capfdbinary.readouterr().out == b"a\x1b[31m\xff\tb\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    files.write_output(None, b"a\x1b[31m\xff\tb\n")
    assert capfdbinary.readouterr().out == b"a\\x1b[31m\\udcff\tb\n"


def test_a_terminal_breaks_no_path(tmp_path):
    """Messages are broken between words there, with paths as seen from the folder; commands, as a
    shell reads them."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 30, 0, 0))
    message = f"frontload: note: {Path.cwd()}/x: see /a/path/that/is/whole"
    command = errors.Command("     cmake -S /a 'two words' -B /a/build")
    with open(theirs, "w") as terminal, open(tmp_path / "file", "w") as file:
        assert errors.folded(message, terminal) == (
            "frontload: note: x: see\n  /a/path/that/is/whole")
        assert errors.folded(command, terminal) == (
            "     cmake -S /a 'two words' \\\n       -B /a/build")
        assert errors.folded(f"{command}", terminal) == f"{command}"
        assert errors.folded(message, file) == message
    os.close(ours)


@pytest.mark.parametrize(("columns", "shown"), [(80, "libc.so.6"), (120, "/usr/lib/libc.so.6")])
def test_a_table_has_room_for_paths(monkeypatch, columns, shown):
    assert console.path("/usr/lib/libc.so.6") == "/usr/lib/libc.so.6"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((columns, 24)))
    assert console.path("/usr/lib/libc.so.6") == shown


def test_progress_is_for_terminals(link, tmp_path):
    """A progress bar is drawn on a terminal only, without colour if NO_COLOR is set."""
    trace = link().trace(tmp_path / "t", "main")
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "NO_COLOR": "1"}
    subprocess.run([*FRONTLOAD, "profile", trace], stderr=theirs, stdout=subprocess.DEVNULL,
                   env=environment, check=True)
    os.close(theirs)
    shown = b""
    while b"1 name" not in shown:
        shown += os.read(ours, 4096)
    assert b"reading traces" in shown and b"\x1b[3" not in shown


def test_steps_of_long_work(monkeypatch, capsys):
    """On a terminal a step is a line with its time, and with the time left once that can be told;
    messages come above. Elsewhere a step is a note."""
    now = iter(range(0, 10 ** 6))
    monkeypatch.setattr("rich.console.monotonic", lambda: next(now))

    def work() -> None:
        messages = errors.Diagnostics(at_once=True)
        with console.steps() as messages.begin:
            messages.step("linking\x07")
            advance = messages.step("measuring 40 runs", 40)
            for part in range(5):
                advance(f"run {part}")
            messages.warning("odd")
            print("data")  # goes where it always goes
            assert list(console.progress([1], "below")) == [1]  # no second bar

    work()
    out, err = capsys.readouterr()
    assert out == "data\n" and err == ("frontload: note: linking\\x07\nfrontload: note: measuring "
                                       "40 runs\nfrontload: warning: odd\n")
    ours, theirs = os.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        work()
    assert capsys.readouterr().out == "data\n"
    shown = ""
    with suppress(OSError):  # the end of a terminal
        while read := os.read(ours, 4096):
            shown += read.decode()
    os.close(ours)
    assert re.search(r"frontload: warning: odd\s+0:\d\d:\d\d linking\\x07\s+"
                     r"0:\d\d:\d\d run 4, 0:\d\d:\d\d left", shown)
    assert re.search(r"0:\d\d:\d\d measuring 40 runs\s", shown)
