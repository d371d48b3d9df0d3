"""Signals, job control and violent ends: the program behaves as without a tracer."""

import os
import pty
import signal
import subprocess

import pytest
from traced import Binary, children, until

STOPPED = ("T", "t")

@pytest.fixture
def program(compile):
    return compile("signals.c", "-O1")


def entered(program, trace):
    return [n for n in Binary(program).named(trace.addresses())
            if n in ("touched", "from_handler", "from_first_trap", "from_second_trap", "after")]


def state(pid):
    """The state of a process: R, S, T (stopped), t (stopped by its tracer), Z; empty if gone."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


@pytest.fixture
def waiting(program, start):
    """A recording of a program that waits: (tracer, pid of the program)."""

    def waiting(*options, **how):
        process = start(*options, "--", program, "wait", stdin=subprocess.PIPE, **how)
        assert process.stdout.readline() == "ready\n"
        return process, children(process.pid)[0]

    return waiting


@pytest.mark.parametrize(("what", "status", "functions"), [
    ("trap", 0, ["touched", "from_first_trap", "from_second_trap", "after"]),
    ("ignored-trap", 0, ["touched", "after"]),
    ("int3", 128 + signal.SIGTRAP, ["touched"]),
    ("handler", 0, ["touched", "from_handler", "after"]),
    ("fault-handler", 6, ["touched", "from_handler"]),
    ("abort", 128 + signal.SIGABRT, ["touched"]),
])
def test_signals_of_its_own(what, status, functions, program, record):
    """A program gets its own signals, SIGTRAP and int3 included; functions that are first entered
    in a handler are recorded; what was touched before a violent end is in the trace."""
    recording = record("--", program, what)
    assert recording.status == status
    assert entered(program, recording.trace) == functions


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGPIPE])
def test_status_of_a_signal(number, program, record):
    """A program that a signal ends gives 128 + the number, and its trace is complete."""
    recording = record("--", program, "die", str(int(number)))
    assert recording.status == 128 + number
    assert entered(program, recording.trace) == ["touched"]


@pytest.mark.parametrize("status", [0, 1, 125, 255])
def test_status_is_handed_on(status, program, record):
    """The exit status is the program's, also by _exit."""
    recording = record("--", program, "quick", str(status))
    assert recording.status == status
    assert entered(program, recording.trace) == ["touched"]


def test_program_is_killed(waiting, program, finish):
    """SIGKILL of the program from outside: what was touched is in the trace."""
    process, pid = waiting()
    os.kill(pid, signal.SIGKILL)
    recording = finish(process)
    assert recording.status == 128 + signal.SIGKILL
    assert entered(program, recording.trace) == ["touched"]


def test_tracer_is_killed(waiting, program, finish):
    """When the tracer dies the program dies with it, it does not run into breakpoints; the trace
    has what was touched."""
    process, pid = waiting()
    process.kill()
    until(lambda: state(pid) in ("", "Z"))
    recording = finish(process)
    assert recording.stdout == ""
    assert entered(program, recording.trace) == ["touched"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signal_to_the_tracer(number, waiting, program, finish, tmp_path):
    """A signal that asks the tracer to end goes to the program; its end is the status, and there is
    nothing left but the trace."""
    process, pid = waiting()
    process.send_signal(number)
    process.wait(60)  # finish() ends its input, at which the program would go on
    recording = finish(process)
    assert recording.status == 128 + number
    assert state(pid) == ""
    assert entered(program, recording.trace) == ["touched"]
    assert len(recording.files) == 1


def test_interrupt_from_a_terminal(compile, tracer, tmp_path):
    """Ctrl-C on a terminal reaches the program once, not once more by way of the tracer."""
    program = compile(r"""
        #include <signal.h>
        #include <stdio.h>
        #include <unistd.h>
        static volatile int count;
        static void on_interrupt(int signal) { (void)signal; ++count; }
        int main(void) {
          signal(SIGINT, on_interrupt);
          puts("ready");
          pause();
          usleep(200000);
          printf("%d\n", count);
          return 3;
        }""", name="counts")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(tracer, [str(tracer), "-o", str(tmp_path / "t"), "--", str(program)])
    stream = os.fdopen(terminal, "r+b", buffering=0)
    assert stream.readline() == b"ready\r\n"
    until(lambda: state(children(pid)[0]) == "S")
    stream.write(b"\x03")
    assert stream.readline().lstrip(b"^C") == b"1\r\n"
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    stream.close()


def test_stop_and_continue(waiting, program, finish):
    """SIGSTOP stops the program, SIGCONT lets it go on, and it is recorded on."""
    process, pid = waiting()
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state(pid) in STOPPED)
    process.stdin.write("x")
    process.stdin.flush()
    assert state(pid) in STOPPED
    os.kill(pid, signal.SIGCONT)
    recording = finish(process)
    assert (recording.status, recording.stdout) == (0, "gone on\n")
    assert entered(program, recording.trace) == ["touched", "after"]


def test_terminal_stop(waiting, finish):
    """Ctrl-Z: the tracer stops after the program, so that the shell sees it; both go on."""
    process, pid = waiting(process_group=0)
    os.killpg(process.pid, signal.SIGTSTP)
    until(lambda: state(process.pid) == "T" and state(pid) in STOPPED)
    os.killpg(process.pid, signal.SIGCONT)
    process.stdin.write("x")
    recording = finish(process)
    assert (recording.status, recording.stdout) == (0, "gone on\n")

