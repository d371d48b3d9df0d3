"""The program behaves as without the recorder: streams, status, signals, child processes."""

import os
import signal

import pytest
from recorded import Binary

PROGRAM = r"""
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define DATA __attribute__((aligned(16))) volatile int
    DATA my_common[4], my_parent[4], my_child[4], my_grandchild[4], my_early[4];
    int main(int argc, char **argv) {
      my_early[0] = 1;
      const char *what = argc > 1 ? argv[1] : "";
      if (!strcmp(what, "exit"))
        return atoi(argv[2]);
      if (!strcmp(what, "die"))
        kill(getpid(), atoi(argv[2]));
      if (!strcmp(what, "wait")) {
        puts("ready");
        fflush(stdout);
        pause();
      }
      if (!strcmp(what, "cat")) {
        char line[100];
        while (fgets(line, sizeof line, stdin))
          fputs(line, stdout);
        fputs("problem\n", stderr);
      }
      if (!strcmp(what, "exec"))
        execlp("echo", "echo", "executed", NULL);
      if (!strcmp(what, "fork")) {
        if (fork() == 0) {
          if (fork() == 0) {
            my_grandchild[0] = my_common[0];
            _exit(0);
          }
          my_child[0] = my_common[0];
          wait(NULL);
          _exit(0);
        }
        my_parent[0] = my_common[0];
        wait(NULL);
      }
      if (!strcmp(what, "daemon") && fork() == 0) {
        usleep(100000);
        for (int i = 0; i < 100000; ++i)
          my_child[0] += my_common[0];
        _exit(0);
      }
      return 0;
    }"""


@pytest.fixture
def program(compile):
    return compile(PROGRAM)


def data(program, trace):
    return [name for name in Binary(program).touches(trace) if "+" in name]


def test_streams(program, record, tmp_path):
    """Standard input, output and error are the program's, and nothing else is written to them."""
    (tmp_path / "input").write_text("a\nb\n")
    with open(tmp_path / "input") as stdin:
        recording = record("--", program, "cat", stdin=stdin)
    assert (recording.stdout, recording.stderr) == ("a\nb\n", "problem\n")


@pytest.mark.parametrize("status", [0, 1, 125, 255])
def test_status_is_handed_on(status, program, record):
    """The exit status is the program's."""
    recording = record("--", program, "exit", str(status))
    assert recording.status == status
    assert data(program, recording.trace) == ["my_early+0"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT])
def test_status_of_a_signal(number, program, record):
    """A program that a signal ends gives 128 + the number, its touches are in the trace."""
    recording = record("--", program, "die", str(int(number)))
    assert recording.status == 128 + number
    assert data(program, recording.trace) == ["my_early+0"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_to_the_recorder(number, program, start, finish):
    """A signal that asks the recorder to end goes to the program; nothing is left behind."""
    process = start("--", program, "wait")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    process.wait(60)  # finish() ends its input, at which the program would go on
    recording = finish(process)
    assert recording.status == 128 + number
    assert data(program, recording.trace) == ["my_early+0"]


def test_interrupt_from_a_terminal(program, start, finish):
    """Ctrl-C, which goes to the whole group, ends the program and so the recording."""
    process = start("--", program, "wait", start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    recording = finish(process)
    assert recording.status == 128 + signal.SIGINT
    assert data(program, recording.trace) == ["my_early+0"]


def test_fork(program, record):
    """Each process that is forked has its own trace, with what it touches from there on."""
    recording = record("--", program, "fork")
    assert (recording.status, recording.stderr) == (0, "")
    assert [data(program, trace) for trace in recording.traces] == [
        ["my_early+0", "my_common+0", "my_parent+0"], ["my_common+0", "my_child+0"],
        ["my_common+0", "my_grandchild+0"]]
    assert len({trace.pid for trace in recording.traces}) == 3


def test_daemon(program, record):
    """A child that outlives the program is recorded to its end."""
    recording = record("--", program, "daemon")
    assert [data(program, trace) for trace in recording.traces] == [
        ["my_early+0"], ["my_common+0", "my_child+0"]]


def test_exec(program, record):
    """What was touched before an exec is recorded; the new program runs on, unrecorded."""
    recording = record("--", program, "exec")
    assert (recording.status, recording.stdout) == (0, "executed\n")
    assert data(program, recording.trace) == ["my_early+0"]


def test_argument_zero(compile, record, tmp_path):
    """A program without debug info is called as it was given, also when it is found in PATH."""
    compile('#include <stdio.h>\nint main(int c, char **v) { (void)c; puts(v[0]); return 0; }')
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert record("--", "program", env={"PATH": path}).stdout == "program\n"
    assert record("--", "./program", cwd=tmp_path).stdout == "./program\n"
