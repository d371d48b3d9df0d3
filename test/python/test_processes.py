"""Child processes: what is left of a command that is not let run to its end, which is nothing."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from frontload.base import processes
from frontload.base.errors import Failure, Interrupted
from frontload.base.processes import TimedOut

IGNORE = 'trap "" TERM;'


@contextmanager
def family(mine: str = "", child: str = ""):
    """A shell that has started another, and their numbers; both stay."""
    script = f"{mine} sh -c '{child} echo $$; sleep 600; :' & echo $$; sleep 600; wait"
    with processes.started(["sh", "-c", script], stdout=subprocess.PIPE) as process:
        yield process, [int(process.stdout.readline()) for _ in range(2)]


def runs(pid: int) -> bool:
    """Whether a process does; one that has ended may be a zombie for ever."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("version", [sys.version_info, (3, 10)])
def test_a_command_has_a_process_group_of_its_own(monkeypatch, version):
    """Also by what the oldest Python that we support has for it."""
    monkeypatch.setattr(sys, "version_info", version)
    with processes.started(["sleep", "600"]) as process:
        assert os.getpgid(process.pid) == process.pid
    with processes.started(["sleep", "600"], preexec_fn=lambda: os.umask(0o123)) as process:
        assert os.getpgid(process.pid) == process.pid
        assert "Umask:\t0123\n" in Path("/proc", str(process.pid), "status").read_text()


@pytest.mark.parametrize(("mine", "child"), [("", ""), (IGNORE, IGNORE), ("", IGNORE)])
def test_who_leaves_early_ends_the_command_and_what_it_has_started(monkeypatch, mine, child):
    """All of its process group, by SIGKILL what ignores SIGTERM; and the command is reaped."""
    monkeypatch.setattr(processes, "_PATIENCE_SECONDS", 0.2)
    with pytest.raises(ZeroDivisionError), family(mine, child) as (process, pids):
        raise ZeroDivisionError
    assert process.returncode is not None
    assert not any(map(runs, pids))


def test_a_command_may_clean_up(tmp_path, monkeypatch):
    """It is wanted as long as the block lasts. SIGTERM comes first; its handler is waited for."""
    monkeypatch.setattr(processes, "_PATIENCE_SECONDS", 600)
    with processes.started(
            ["sh", "-c", "trap 'sleep 0.1; touch cleaned; exit' TERM; echo ready; "
             "while :; do sleep 0.01; done"], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        assert process.poll() is None
    assert (tmp_path / "cleaned").exists()


def test_a_time_out_ends_the_whole_group():
    """What takes too long is ended with all that it has started, and that is said."""
    with pytest.raises(TimedOut, match=r"sh: did not end within 0\.01 seconds"), \
            family() as (process, pids):
        processes.wait(process, 0.01)
    assert not any(map(runs, pids))
    with pytest.raises(TimedOut):
        processes.run(["sleep", "600"], timeout=0.01)


def test_what_a_command_writes_is_kept():
    """Both streams, also if they are no UTF-8, and its status; it has no input."""
    result = processes.run(["sh", "-c", "cat; printf 'a\\377'; echo b >&2; kill -9 $$"])
    assert (result.status, result.stdout, result.stderr) == (-9, "a\udcff", "b\n")
    result = processes.run(["other", "-c", "echo $0"], executable="/bin/sh")
    assert result.stdout == "other\n"


@pytest.mark.parametrize(("call", "code"), [
    (processes.run, 2), (processes.check_call, 2),
    (lambda command: processes.started(command).__enter__(), 2),
    (lambda command: processes.run_in_foreground(command, os.environ), 127)])
def test_what_cannot_be_run_is_named(call, code):
    """In our place it has the exit codes of shells."""
    with pytest.raises(Failure, match=r"^/no/such/program: No such file or directory$") as failed:
        call(["/no/such/program"])
    assert failed.value.code == code and "PATH" in failed.value.note
    with pytest.raises(Failure) as failed:
        call(["/etc/passwd"])
    assert failed.value.code == (126 if code == 127 else 2)


def test_a_tool_that_fails_fails_us(capfd):
    """Its output goes to stderr, and is no result of ours."""
    processes.check_call(["echo", "said"])
    assert capfd.readouterr() == ("", "said\n")
    with pytest.raises(Failure, match="false: exited with status 1") as failed:
        processes.check_call(["false"])
    assert failed.value.code == 1


def test_a_signal_while_a_command_starts_ends_it(monkeypatch):
    """It is not obeyed before the new process is known."""
    made = []

    class Interrupting(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Interrupting)
    with pytest.raises(Interrupted) as interrupted, processes.unwinding_on_signals():
        processes.run(["sleep", "600"])
    assert interrupted.value.exit_status == 128 + signal.SIGTERM
    assert made[0].returncode is not None


def test_only_the_first_signal_counts():
    """What follows must not interrupt the cleaning; afterwards all is as it was."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interrupted) as interrupted, processes.unwinding_on_signals():
        try:
            signal.raise_signal(signal.SIGHUP)
        finally:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
    assert interrupted.value.exit_status == 128 + signal.SIGHUP
    assert signal.getsignal(signal.SIGTERM) == before


# The one gets SIGTERM before the command is there, the other SIGINT and SIGTERM while it runs.
EARLY = """
import os, signal, subprocess, sys
from frontload.base import processes
class Early(subprocess.Popen):
    def __init__(self, *arguments, **options):
        signal.raise_signal(signal.SIGTERM)
        super().__init__(*arguments, **options)
subprocess.Popen = Early
sys.exit(processes.run_in_foreground(["sleep", "600"], os.environ))
"""
FOREGROUND = """
import os, sys
from frontload.base import processes
sys.exit(processes.run_in_foreground(["sh", "-c", "trap 'exit 7' INT; trap 'exit 9' TERM; "
                                      "echo ready; while :; do sleep 0.02; done"], os.environ))
"""


def test_signals_are_handed_on_but_for_a_terminals():
    """In our place a command gets what is sent to us; a terminal sends its signals to both."""
    result = subprocess.run([sys.executable, "-c", EARLY])
    assert result.returncode == 128 + signal.SIGTERM
    with subprocess.Popen([sys.executable, "-c", FOREGROUND], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 9


def test_a_command_runs_where_setpriv_cannot_end_it_with_us(tmp_path, monkeypatch):
    """busybox has a program of that name that knows less."""
    (tmp_path / "setpriv").write_text('#!/bin/sh\n[ "$1" != --pdeathsig ] && exec "$@"\n')
    (tmp_path / "setpriv").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert not processes.ending_with_us()
