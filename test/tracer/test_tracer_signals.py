"""Signals, job control and violent ends: the program behaves as without a tracer."""

import ctypes
import os
import pty
import signal
import subprocess

import pytest
from traced import Binary, announced, children, code_is_that_of_the_file, tracers_of, until

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
    except (FileNotFoundError, ProcessLookupError):  # it ended before, or meanwhile
        return ""


@pytest.fixture
def waiting(program, start):
    """A recording of a program that waits: (tracer, pid of the program)."""

    def waiting(**how):
        process = announced(start("--", program, "wait", stdin=subprocess.PIPE, **how))
        return process, children(process.pid)[0]

    return waiting


@pytest.mark.parametrize(("what", "status", "functions"), [
    ("trap", 0, ["touched", "from_first_trap", "from_second_trap", "after"]),
    ("trap-that-kills", 128 + signal.SIGTRAP, ["touched", "from_handler"]),
    ("raise", 128 + signal.SIGTRAP, ["touched"]),
    ("breakpoint", 128 + signal.SIGTRAP, ["touched"]),
])
def test_signals_of_its_own(what, status, functions, program, record):
    """A program gets its own signals and breakpoints; what handlers enter is recorded."""
    recording = record("--", program, what)
    assert recording.status == status
    assert entered(program, recording.trace) == functions


@pytest.mark.parametrize(("how", "number", "status"), [
    *(("die", number, 128 + number) for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM,
                                                   signal.SIGPIPE)),
    *(("quick", number, number) for number in (0, 1, 125, 255))])
def test_status_of_a_signal(how, number, status, program, record):
    """The exit status is the program's, or 128 + the signal's number; the trace is complete."""
    recording = record("--", program, how, str(int(number)))
    assert recording.status == status
    assert entered(program, recording.trace) == ["touched"]


def test_killed(waiting, program, finish):
    """Whoever kills the tracer ends the program, too; the trace has what was touched."""
    process, pid = waiting()
    process.kill()
    until(lambda: state(pid) in ("", "Z"))
    recording = finish(process)
    assert (recording.status, recording.stdout) == (-signal.SIGKILL, "")
    assert entered(program, recording.trace) == ["touched"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signal_to_the_tracer(number, waiting, program, finish, tmp_path):
    """A signal that asks the tracer to end goes to the program; only the trace is left."""
    process, pid = waiting()
    process.send_signal(number)
    process.wait()  # finish() ends its input, at which the program would go on
    recording = finish(process)
    assert recording.status == 128 + number
    assert state(pid) == ""
    assert entered(program, recording.trace) == ["touched"]
    assert len(recording.files) == 1


HANDED_ON = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT, signal.SIGALRM,
             signal.SIGVTALRM, signal.SIGPROF, signal.SIGABRT, signal.SIGURG, signal.SIGIO,
             signal.SIGPWR, signal.SIGXCPU, signal.SIGHUP, signal.SIGTERM, signal.SIGINT,
             signal.SIGQUIT, signal.SIGRTMIN, signal.SIGRTMIN + 7, signal.SIGRTMAX]


def told(process):
    return process.stdout.readline().split()


def test_signals_that_a_program_handles(compile, start, finish):
    """Whatever is sent to the tracer reaches the program once, with its value."""
    program = compile("tells_signals.c")
    process = start("--", program, stdin=subprocess.PIPE)
    assert int(*told(process)) == children(process.pid)[0]
    for number in HANDED_ON:
        process.send_signal(number)
        assert told(process) == [str(int(number)), "0"]
    assert ctypes.CDLL(None).sigqueue(process.pid, signal.SIGRTMIN + 1, ctypes.c_void_p(77)) == 0
    assert told(process) == [str(signal.SIGRTMIN + 1), "77"]
    recording = finish(process)
    assert (recording.status, recording.stdout) == (0, "")


def test_end_of_a_daemon(compile, start, finish):
    """A signal that asks for an end, after the command's own, ends the recording, not what the
    command left behind."""
    program = compile("tells_signals.c")
    process = start("--", program, "daemon", stdin=subprocess.PIPE)
    pid = int(*told(process))
    until(lambda: children(process.pid) == [])
    process.send_signal(signal.SIGINT)
    assert process.wait() == 4
    assert tracers_of(pid) == {0} and code_is_that_of_the_file(pid, program)
    os.kill(pid, signal.SIGUSR2)
    assert told(process) == [str(int(signal.SIGUSR2)), "0"]
    recording = finish(process)
    assert not any(trace.startup_done for trace in recording.traces)


def test_interrupt_from_a_terminal(compile, tracer, tmp_path):
    """Ctrl-C on a terminal reaches the program once, not once more by way of the tracer."""
    program = compile("tells_signals.c")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(tracer, [str(tracer), "-o", str(tmp_path / "t"), "--", str(program)])
    stream = os.fdopen(terminal, "r+b", buffering=0)
    stream.readline()
    stream.write(b"\x03")
    assert stream.readline().lstrip(b"^C") == b"2 0\r\n"
    os.kill(pid, signal.SIGUSR1)  # behind whatever there was to be handed on
    assert stream.readline() == b"10 0\r\n"
    stream.write(b"\x04")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
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


@pytest.mark.parametrize("whom", [os.kill, os.killpg])
def test_continued(whom, compile, start, finish):
    """The SIGCONT after Ctrl-Z reaches the program once, whoever gets it."""
    process = start("--", compile("tells_signals.c"), stdin=subprocess.PIPE, process_group=0)
    pid = int(*told(process))
    os.kill(pid, signal.SIGTTIN)
    assert told(process) == [str(int(signal.SIGTTIN)), "0"]  # it handles this one
    os.kill(pid, signal.SIGSTOP)
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: state(process.pid) == "T" and state(pid) in STOPPED)
    whom(process.pid, signal.SIGCONT)
    assert told(process) == [str(int(signal.SIGCONT)), "0"]
    recording = finish(process)
    assert (recording.status, recording.stdout) == (0, "")
