"""Child processes: what is left of a command that is not let run to its end, which is nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from frontload.base import processes
from frontload.base.errors import Failure, Interrupted
from frontload.base.processes import TimedOut

# Starts a shell that starts another; both write down who they are, and stay.
FAMILY = "{mine} sh -c '{child} echo $$ >> pids; sleep 600; :' & echo $$ >> pids; sleep 600; wait"
IGNORE = 'trap "" TERM;'


def pids(folder: Path) -> list[int]:
    while True:
        found = (folder / "pids").read_text().split() if (folder / "pids").exists() else []
        if len(found) == 2:
            return list(map(int, found))
        time.sleep(0.01)


def runs(pid: int) -> bool:
    """Whether a process does; one that has ended may be a zombie for ever."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("mine", "child"), [("", ""), (IGNORE, IGNORE), ("", IGNORE)])
def test_who_leaves_early_ends_the_command_and_what_it_has_started(tmp_path, monkeypatch, mine,
                                                                   child):
    """All of its process group, by SIGKILL what ignores SIGTERM; and the command is reaped."""
    monkeypatch.setattr(processes, "_PATIENCE_SECONDS", 0.2)
    with pytest.raises(ZeroDivisionError), processes.started(
            ["sh", "-c", FAMILY.format(mine=mine, child=child)], cwd=tmp_path) as process:
        family = pids(tmp_path)
        raise ZeroDivisionError
    assert process.returncode is not None
    assert not any(map(runs, family))


def test_a_block_that_does_not_wait_ends_the_command(tmp_path):
    """A server is wanted for as long as the block lasts."""
    with processes.started(["sleep", "600"]) as process:
        assert process.poll() is None
    assert process.returncode == -signal.SIGTERM


def test_a_command_may_clean_up(tmp_path):
    """SIGTERM comes first, and its handler is waited for."""
    with processes.started(
            ["sh", "-c", "trap 'sleep 0.1; touch cleaned; exit' TERM; touch ready; "
             "while :; do sleep 0.01; done"], cwd=tmp_path):
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
    assert (tmp_path / "cleaned").exists()


def test_a_time_out_ends_the_whole_group(tmp_path):
    """What takes too long is ended with all that it has started, and that is said."""
    with pytest.raises(TimedOut, match=r"sh: did not end within 0\.01 seconds"), \
            processes.started(["sh", "-c", FAMILY.format(mine="", child="")],
                              cwd=tmp_path) as process:
        family = pids(tmp_path)
        processes.wait(process, 0.01)
    assert not any(map(runs, family))
    with pytest.raises(TimedOut):
        processes.run(["sleep", "600"], timeout=0.01)


def test_what_a_command_writes_is_kept():
    """Both streams, also if they are no UTF-8, and its status; it has no input."""
    result = processes.run(["sh", "-c", "cat; printf 'a\\377'; echo b >&2; kill -9 $$"])
    assert (result.status, result.stdout, result.stderr) == (-9, "a\udcff", "b\n")


def test_a_program_may_be_called_by_another_name():
    result = processes.run(["other", "-c", "echo $0"], executable="/bin/sh")
    assert result.stdout == "other\n"


@pytest.mark.parametrize("call", [
    processes.run, processes.check_call, lambda command: processes.started(command).__enter__()])
def test_what_cannot_be_run_is_named(call):
    with pytest.raises(Failure, match=r"^/no/such/program: No such file or directory$") as failed:
        call(["/no/such/program"])
    assert failed.value.code == 2 and "PATH" in failed.value.note


@pytest.mark.parametrize(("program", "code"), [("/no/such/program", 127), ("/etc/passwd", 126)])
def test_in_our_place_it_has_the_exit_codes_of_shells(program, code):
    with pytest.raises(Failure) as failed:
        processes.run_in_foreground([program], os.environ)
    assert failed.value.code == code


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


# Ends by the signal that it sends itself before the command is there.
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


def test_a_signal_before_the_command_is_there_is_handed_on():
    """In our place a command gets every signal that is sent to us."""
    result = subprocess.run([sys.executable, "-c", EARLY], timeout=60,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert result.returncode == 128 + signal.SIGTERM


FOREGROUND = """
import os, sys
from frontload.base import processes
sys.exit(processes.run_in_foreground(["sh", "-c", "trap 'exit 7' INT; trap 'exit 9' TERM; "
                                      "echo ready; while :; do sleep 0.02; done"], os.environ))
"""


def test_a_terminals_signals_are_not_handed_on():
    """The command in our place gets them from the terminal itself, and would get them twice."""
    with subprocess.Popen([sys.executable, "-c", FOREGROUND], stdout=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 9
