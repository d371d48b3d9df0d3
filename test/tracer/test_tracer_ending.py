"""The end of a recording before the end of the program: --until and --for."""

import os
import signal
import subprocess

import pytest
from traced import Binary, children, until


@pytest.fixture
def program(compile):
    return compile("steps.c", "-O1", "-pthread")


def tracer_of(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("TracerPid"))


def code_of(pid, program):
    """The code of a running program as it is in its memory."""
    with open(f"/proc/{pid}/maps") as maps:
        begin, end = next(line.split()[0].split("-") for line in maps
                          if "r-xp" in line and str(program) in line)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(int(begin, 16))
        return memory.read(int(end, 16) - int(begin, 16))


@pytest.mark.parametrize("how", [["--until=startup_is_over"], ["--for=1"]])
@pytest.mark.parametrize("what", ["plain", "fork"])
def test_recording_ends(how, what, program, start, finish):
    """Once the recording has ended, the header says so, the program and its children run on without
    a tracer and without a breakpoint in their code, and nothing more is recorded; the status is
    still handed on."""
    process = start(*how, "--", program, what, stdin=subprocess.PIPE)
    for _ in range(2 if what == "fork" else 1):
        assert process.stdout.readline() == "ready\n"
    (parent,) = children(process.pid)
    pids = [parent, *children(parent)]
    until(lambda: not any(tracer_of(thread) for pid in pids
                          for thread in os.listdir(f"/proc/{pid}/task")))
    untouched = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    untouched.stdout.readline()
    original = code_of(untouched.pid, program)
    assert [code_of(pid, program) == original for pid in pids] == [True] * len(pids)
    untouched.communicate(b"xxxx")
    process.stdin.write("xxxxxxxx")
    recording = finish(process)
    assert recording.status == 5
    assert recording.stdout.count("gone on") == len(pids)
    trace = recording.of(program)[0]
    assert trace.startup_done
    names = [n for n in Binary(program).named(trace.addresses()) if "l" in n]
    early = [n for n in names if n.startswith("early_")]
    # The time may be over before the program has called them all.
    assert early == [f"early_{n:02}" for n in range(100)][:len(early)]
    assert len(early) == 100 or how == ["--for=1"]
    assert not [n for n in names if n.startswith("late_")]


def test_until_is_the_last(program, record):
    """The function that ends the recording is the last one in the trace."""
    trace = record("--until=early_49", "--", program, stdin=subprocess.DEVNULL).trace
    names = Binary(program).named(trace.addresses())
    assert names[-2:] == ["early_48", "early_49"] and trace.startup_done


@pytest.mark.parametrize("name", ["alias_target", "another_name"])
def test_until_an_alias(name, compile, record):
    """Any of the names of a function will do."""
    program = compile("order.c", "-O1")
    trace = record(f"--until={name}", "--", program).trace
    assert Binary(program).named(trace.addresses())[-1] == "alias_target" and trace.startup_done


def test_until_that_does_not_exist(program, record):
    """A function that no program has is said at the end; all was recorded."""
    recording = record("--until=early", "--", program, stdin=subprocess.DEVNULL)
    assert recording.stderr == (
        "frontload-trace: warning: --until=early: no recorded program has a function of this "
        "name\n")
    assert not recording.trace.startup_done and recording.status == 5


def test_until_in_an_exec(compile, program, record):
    """The programs that the command executes are watched for the function too; the wrapper's trace
    ends at the exec."""
    wrapper = compile("""
        #include <unistd.h>
        int main(int n, char **argv) { execv(argv[1], argv + 1); return 9; }""", name="wrapper")
    recording = record("--until=early_49", "--", wrapper, program, stdin=subprocess.DEVNULL)
    (first,), (second,) = recording.of(wrapper), recording.of(program)
    assert (first.startup_done, second.startup_done) == (False, True)


@pytest.mark.parametrize("value", ["0", "-1", "x", "inf", "nan", ""])
def test_bad_time(value, tracer, run):
    """--for wants a number above 0."""
    result = run(tracer, f"--for={value}", "--", "true", code=2)
    assert "--for" in result.stderr


def test_interrupt_when_only_a_daemon_is_left(compile, start, finish):
    """When the command has ended and a process it left behind is being recorded, an interrupt ends
    the recording, not that process."""
    program = compile(r"""
        #include <stdio.h>
        #include <unistd.h>
        __attribute__((noinline)) void early(void) { __asm__ volatile(""); }
        __attribute__((noinline)) void late(void) { __asm__ volatile(""); }
        int main(void) {
          char byte;
          if (fork() != 0) return 4;
          early();
          printf("%d\n", getpid());
          fflush(stdout);
          if (read(0, &byte, 1) == 1) late();
          puts("gone on");
          return 0;
        }""", "-O1", name="left")
    process = start("--", program, stdin=subprocess.PIPE)
    pid = int(process.stdout.readline())
    until(lambda: children(process.pid) == [])
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert tracer_of(pid) == 0
    process.stdin.write("x")
    recording = finish(process)
    assert (recording.status, recording.stdout) == (4, "gone on\n")
    _, daemon = recording.of(program)
    assert Binary(program).named(daemon.addresses()) == ["early"] and not daemon.startup_done
