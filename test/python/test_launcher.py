"""frontload-exec: runs one command, hands on its status, and writes down what it cost."""

import json
import os
import signal
import subprocess

import pytest
from abilities import needs
from frontload.base.ready import Ready
from frontload.measure.launcher import Launcher

FIELDS = {"exit_status", "signal", "wall_ns", "user_us", "system_us", "major_faults",
          "minor_faults", "max_rss_kib", "blocks_in", "voluntary_switches",
          "involuntary_switches"}


@pytest.fixture
def start(build, spawn):
    """start(command): a running launcher whose line goes to stderr."""
    return lambda *command, options=(): spawn(build / "bin/frontload-exec", *options, "--",
                                              *command, stdin=subprocess.PIPE)


@pytest.mark.parametrize(("script", "code", "told"), [
    ("exit 3", 3, (3, None)), ("kill -9 $$", 128 + 9, (None, 9)),
    ("kill -2 $$", 128 + 2, (None, 2))])
def test_hands_on_the_status(launch, script, code, told):
    """The line has every figure. What the launcher ignores is not ignored in the command."""
    line = launch(command=["sh", "-c", script], code=code)
    assert line.keys() == FIELDS and (line["exit_status"], line["signal"]) == told


def test_a_line_that_nobody_reads(build, run):
    """It is an error of ours, once the command has run to its end."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as broken:
        done = run(build / "bin/frontload-exec", "--", "sh", "-c", "echo end", code=2,
                   capture_output=False, stdout=subprocess.PIPE, stderr=broken)
    assert done.stdout == "end\n"


def test_memory_of_the_parent_is_not_counted(launch):
    """Peak memory is the command's own even if a fat process asked for it."""
    fat = bytearray(os.urandom(1 << 20) * 200)
    line = launch(command=["true"])
    assert 0 < line["max_rss_kib"] * 1024 < len(fat) / 4


def test_enters_the_cgroup_before_the_command_starts(launch, tmp_path):
    """The launcher moves itself (pid 0) into the cgroup; without one, nothing is measured."""
    procs = tmp_path / "cgroup.procs"
    procs.touch()
    launch(f"--cgroup={tmp_path}", command=["grep", "-qx", "0", procs])
    assert launch(f"--cgroup={tmp_path}/none", command=["rm", procs], code=2) is None
    assert procs.exists()
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


SAYS_SIGNALS = ("trap 'echo usr1' USR1; trap 'echo usr2' USR2; trap 'echo winch' WINCH; "
                "trap 'echo rt' 36; echo ready; while :; do read line; done")


@pytest.mark.parametrize("wait", [(), ("--until-file=/nowhere/x",)])
def test_signals_reach_the_command(start, wait):
    """What a service manager sends for new log files and the like reaches the command."""
    process = start("sh", "-c", SAYS_SIGNALS, options=wait)
    assert process.stdout.readline() == "ready\n"
    for number, said in ((signal.SIGUSR1, "usr1"), (signal.SIGUSR2, "usr2"),
                         (signal.SIGWINCH, "winch"), (36, "rt")):
        process.send_signal(number)
        assert process.stdout.readline() == said + "\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM


def test_sigint_is_the_commands_to_decide(start):
    """A terminal's Ctrl-C reaches the command too; the launcher waits for what it does."""
    process = start("sh", "-c", "echo ready; read line; exit 5")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, line = process.communicate("go on\n")
    assert json.loads(line)["exit_status"] == 5


@pytest.mark.parametrize("option", ["--fd=x", "--fd=77", "--unknown", "--output=/nowhere/x"])
def test_wrong_arguments(build, run, option):
    """A wrong command line is refused with exit 2 and a message; as without a command."""
    assert run(build / "bin/frontload-exec", option, "--", "true", code=2).stderr
    assert run(build / "bin/frontload-exec", code=2).stderr


@pytest.mark.parametrize("ready", [None, Ready(output="0")])
def test_a_measured_program_inherits_no_descriptor_of_ours(ready, tools, tmp_path):
    """Neither the one for the line, nor that by which frontload-exec is made to wait."""
    seen = tmp_path / "seen"
    sample = Launcher(ready=ready).run(["sh", "-c", f"ls /proc/self/fd >{seen}; echo 0"])
    assert sample.exit_status == 0
    assert seen.read_text().split() == ["0", "1", "2", "3"]  # of ls; 3 is the folder
