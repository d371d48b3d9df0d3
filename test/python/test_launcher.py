"""frontload-exec: runs one command, hands on its status, and writes down what it cost."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from abilities import needs
from frontload.base.ready import Ready
from frontload.measure.launcher import Launcher

FIELDS = {"exit_status", "signal", "wall_ns", "user_us", "system_us", "major_faults",
          "minor_faults", "max_rss_kib", "blocks_in", "voluntary_switches",
          "involuntary_switches"}


@pytest.fixture
def launch(build, run, tmp_path):
    """launch(*options, command=[...], code=0): the result line (None if there is none)."""
    output = tmp_path / "line.json"

    def launch(*options, command, code=0):
        launch.result = run(build / "bin/frontload-exec", f"--output={output}", *options, "--",
                            *command, code=code)
        text = output.read_text() if output.exists() else ""
        return json.loads(text) if text else None

    return launch


@pytest.fixture
def start(build, spawn):
    """start(command): a running launcher whose line goes to stderr."""
    return lambda *command, options=(): spawn(build / "bin/frontload-exec", *options, "--",
                                              *command, stdin=subprocess.PIPE)


def test_hands_on_the_exit_status(launch):
    """The exit status is the command's, and the line has every figure."""
    line = launch(command=["sh", "-c", "exit 3"], code=3)
    assert line.keys() == FIELDS
    assert (line["exit_status"], line["signal"]) == (3, None)


def test_hands_on_the_signal(launch):
    """The status is 128 + signal. What the launcher ignores is not ignored in the command."""
    for number in (9, 2):
        line = launch(command=["sh", "-c", f"kill -{number} $$; exit 0"], code=128 + number)
        assert (line["exit_status"], line["signal"]) == (None, number)


def test_a_command_that_cannot_be_run_leaves_no_line(launch):
    """Without a run there is nothing to measure."""
    assert launch(command=["./missing"], code=127) is None


def test_a_line_that_nobody_reads(build, run):
    """It is an error of ours, once the command has run to its end."""
    reading, writing = os.pipe()
    os.close(reading)
    done = run(build / "bin/frontload-exec", "--", "sh", "-c", "echo end", code=2,
               capture_output=False, stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    assert done.stdout == "end\n"


def test_memory_of_the_parent_is_not_counted(launch):
    """Peak memory is the command's own even if a fat process asked for it."""
    fat = bytearray(os.urandom(1 << 20) * 200)
    line = launch(command=["true"])
    assert 0 < line["max_rss_kib"] * 1024 < len(fat) / 4


def test_the_command_does_not_hold_the_descriptor(build, run):
    """The result's descriptor is closed in the command, or its children could keep it open."""
    reader, writer = os.pipe()
    listed = run(build / "bin/frontload-exec", f"--fd={writer}", "--", "sh", "-c",
                 "echo /proc/self/fd/*", pass_fds=[writer]).stdout.split()
    os.close(writer)
    with os.fdopen(reader) as line:
        assert json.loads(line.read())["exit_status"] == 0
    assert f"/proc/self/fd/{writer}" not in listed
    assert "/proc/self/fd/1" in listed


def test_enters_the_cgroup_before_the_command_starts(launch, tmp_path):
    """The launcher moves itself (pid 0) into the cgroup; a shell command sees that it is done."""
    procs = tmp_path / "cgroup.procs"
    procs.touch()
    launch(f"--cgroup={tmp_path}", command=["grep", "-qx", "0", procs])


def test_a_cgroup_that_is_not_there_stops_it(launch, tmp_path):
    """A command is never measured outside the cgroup it should have been in."""
    line = launch(f"--cgroup={tmp_path}/none", command=["touch", tmp_path / "ran"], code=2)
    assert line is None
    assert not (tmp_path / "ran").exists()
    assert "none/cgroup.procs: cannot enter the cgroup: No such file" in launch.result.stderr


@needs("mounts")
def test_only_the_command_enters_the_mounts(launch, spawn, tmp_path, monkeypatch):
    """In the folder of the same name, so that relative paths mean what is mounted."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    other = spawn("unshare", "--mount", "--propagation=private", "sh", "-c",
                  "mount --bind a b && echo mounted && cat", stdin=subprocess.PIPE)
    assert other.stdout.readline() == "mounted\n"
    launch(f"--mounts=/proc/{other.pid}/ns/mnt", command=["cat", "b/file"])
    assert launch.result.stdout == "a" and (tmp_path / "b/file").read_text() == "b"
    assert launch("--mounts=/none", command=["true"], code=2) is None
    assert launch("--mounts=/dev/null", command=["true"], code=126) is None


def test_sigterm_reaches_the_command(start):
    """SIGTERM to the launcher ends the command, which is reaped and reported."""
    process = start("sh", "-c", "echo ready; exec sleep 999")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    _, line = process.communicate()
    assert json.loads(line)["signal"] == signal.SIGTERM
    assert process.returncode == 128 + signal.SIGTERM


SAYS_SIGNALS = ("trap 'echo usr1' USR1; trap 'echo usr2' USR2; trap 'echo winch' WINCH; "
                "trap 'echo rt' 36; echo ready; while :; do read line && exit 3; done")


@pytest.mark.parametrize("wait", [(), ("--until-file=/nowhere/x",)])
def test_other_signals_reach_the_command(start, wait):
    """What a service manager sends for new log files and the like reaches the command."""
    process = start("sh", "-c", SAYS_SIGNALS, options=wait)
    assert process.stdout.readline() == "ready\n"
    for number, said in ((signal.SIGUSR1, "usr1"), (signal.SIGUSR2, "usr2"),
                         (signal.SIGWINCH, "winch"), (36, "rt")):
        process.send_signal(number)
        assert process.stdout.readline() == said + "\n"
    process.stdin.write("go on\n")
    process.stdin.flush()
    assert process.wait() == 3


def test_signals_reach_a_daemon(start):
    """A command that makes itself a daemon is still the one that is meant."""
    process = start("sh", "-c", f"exec 3<&0; ({SAYS_SIGNALS}) <&3 & echo $!; exit 0",
                    options=["--until-file=/nowhere/x"])
    daemon, ready = sorted([process.stdout.readline(), process.stdout.readline()])
    assert ready == "ready\n"
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while children.read_text().split() != [daemon.strip()]:
        os.sched_yield()  # until the shell that has started it was reaped, of which nothing tells
    process.send_signal(signal.SIGUSR1)
    assert process.stdout.readline() == "usr1\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM


def test_sigint_is_the_commands_to_decide(start):
    """A terminal's Ctrl-C reaches the command too; the launcher waits for what it does."""
    process = start("sh", "-c", "echo ready; read line; exit 5")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, line = process.communicate("go on\n")
    assert json.loads(line)["exit_status"] == 5


@pytest.mark.parametrize("arguments", [[], ["--fd=x", "--", "true"], ["--fd=77", "--", "true"],
                                       ["--unknown", "--", "true"],
                                       ["--output=/nowhere/x", "--", "true"]])
def test_wrong_arguments(build, run, arguments):
    """A wrong command line is refused with exit 2 and a message."""
    assert run(build / "bin/frontload-exec", *arguments, code=2).stderr


@pytest.mark.parametrize("ready", [None, Ready(output="0")])
def test_a_measured_program_inherits_no_descriptor_of_ours(ready, tools, tmp_path):
    """Neither the one for the line, nor that by which frontload-exec is made to wait."""
    seen = tmp_path / "seen"
    Launcher(ready=ready).run(["sh", "-c", f"ls /proc/self/fd >{seen}; echo 0"])
    assert seen.read_text().split() == ["0", "1", "2", "3"]  # of ls; 3 is the folder
