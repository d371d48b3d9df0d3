"""--pid: a process that runs is recorded from now on, and goes on as if nothing had been."""

import os
import signal
import subprocess
import threading

import pytest
from traced import Binary, Recording, code_is_that_of_the_file, functions, until

NOBODY = 65534


@pytest.fixture
def program(compile):
    return compile("busy.c", "-O1", "-pthread")


@pytest.fixture
def busy(program, spawn):
    """A server under load, which has said that it is ready."""
    process = spawn(program, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
def attach(start, finish):
    """attach(process, *options): a whole recording of a process."""
    return lambda process, *options: finish(start(f"--pid={process.pid}", *options))


def tracers_of(pid):
    """Of all its threads."""
    found = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status") as status:
            found |= {int(line.split()[1]) for line in status if line.startswith("TracerPid")}
    return found


def enter_later(busy):
    """Makes the process enter a function for the first time. Once there are breakpoints, it is
    certain then that something was recorded."""
    busy.stdin.write("x")
    busy.stdin.flush()
    assert busy.stdout.readline() == "later\n"


def end(process):
    process.communicate(timeout=60)
    assert process.returncode == 3


def test_end_in_the_midst(compile, spawn, attach):
    """The recording ends while threads run into breakpoints: none is left with a trap that nobody
    will tell it about. (The shorter, the more of ten thousand functions are still to be entered.)
    """
    program = compile(r"""
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        __asm__(".text\n""" + functions(10000, 16) + r""".globl f0\n");
        extern char f0[];
        static void *run(void *seed) {
          for (unsigned x = (unsigned)(long)seed;; x = x * 1103515245 + 12345)
            ((void (*)(void))(f0 + (x >> 8) % 10000 * 16))();
          return 0;
        }
        int main(void) {
          pthread_t thread;
          char byte;
          for (long i = 1; i <= 4; ++i) pthread_create(&thread, 0, run, (void *)i);
          puts("ready");
          fflush(stdout);
          return read(0, &byte, 1) == 0 ? 3 : 5;
        }""", "-O1", "-pthread", name="midst")
    process = spawn(program, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    for i in range(12):
        attach(process, f"--for={0.001 + 0.001 * (i % 5)}")
        assert process.poll() is None
        assert code_is_that_of_the_file(process.pid, program)
    end(process)


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_under_load(kind, compile, spawn, attach):
    """While threads enter functions and the process forks, it is recorded ten times in a row. Each
    time it goes on without a tracer, with the code of its file, and no child of it fails."""
    program = compile("busy.c", "-O1", "-pthread", kind)
    process = spawn(program, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    for _ in range(10):
        recording = attach(process, "--for=0.02")
        assert recording.status == 0 or "nothing was recorded" in recording.stderr
        assert tracers_of(process.pid) == {0}
        assert code_is_that_of_the_file(process.pid, program)
    names = {name for trace in recording.of(program)
             for name in Binary(program).named(trace.addresses())}
    assert any(name.startswith("busy_") for name in names)
    assert not names & {"main", "at_the_beginning", "later"}
    end(process)


def test_ends_by_an_interrupt(program, busy, start, finish):
    """Ctrl-C ends the recording, with status 0; what was entered by then is in the trace."""
    recorder = start(f"--pid={busy.pid}")
    until(lambda: not code_is_that_of_the_file(busy.pid, program))
    assert tracers_of(busy.pid) == {recorder.pid}
    enter_later(busy)
    recorder.send_signal(signal.SIGINT)
    recording = finish(recorder)
    assert (recording.status, recording.stderr) == (0, "")
    assert tracers_of(busy.pid) == {0} and code_is_that_of_the_file(busy.pid, program)
    end(busy)


def test_closed_standard_descriptors(compile, spawn, start, finish):
    """What the recorder has to say does not get into its trace, which would have the number of the
    standard error output."""
    program = compile(r"""
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void later(void) { __asm__ volatile(""); }
        __attribute__((noinline)) void latest(void) { __asm__ volatile(""); }
        int main(void) {
          char byte;
          puts("ready");
          fflush(stdout);
          if (read(0, &byte, 1) != 1)
            return 4;
          later();
          if (fork() == 0)
            execl("/bin/true", "true", (char *)0); /* of which there is something to say */
          wait(0);
          latest();
          puts("later");
          fflush(stdout);
          return read(0, &byte, 1) == 0 ? 3 : 5;
        }""", "-O1", name="says")
    process = spawn(program, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    recorder = start(f"--pid={process.pid}", preexec_fn=lambda: (os.close(1), os.close(2)))
    until(lambda: not code_is_that_of_the_file(process.pid, program))
    enter_later(process)
    recorder.send_signal(signal.SIGINT)
    recording = finish(recorder)
    assert recording.status == 0
    assert Binary(program).named(recording.of(program)[0].addresses()) == ["later", "latest"]
    end(process)


def test_ends_at_a_function(program, busy, start, finish):
    """--until ends it; the trace says that the startup was over, and has that function last."""
    recorder = start(f"--pid={busy.pid}", "--until=later")
    until(lambda: not code_is_that_of_the_file(busy.pid, program))
    busy.stdin.write("x")
    busy.stdin.flush()
    recording = finish(recorder)
    assert (recording.status, recording.stderr) == (0, "")
    trace = next(trace for trace in recording.of(program) if trace.pid == busy.pid)
    names = Binary(program).named(trace.addresses())
    assert trace.startup_done and names[-1] == "later" and "latest" not in names
    assert code_is_that_of_the_file(busy.pid, program)
    end(busy)


def test_process_ends(program, busy, start, finish):
    """When the process ends, the recording has, too."""
    recorder = start(f"--pid={busy.pid}")
    until(lambda: not code_is_that_of_the_file(busy.pid, program))
    end(busy)
    recording = finish(recorder)
    assert (recording.status, recording.stderr) == (0, "")
    assert "_fini" in Binary(program).named(recording.of(program)[0].addresses())


def test_other_signals_are_nobodys(busy, program, start, finish):
    """A signal to the recorder that does not ask for an end neither ends it nor goes to the
    process, which has not started it."""
    recorder = start(f"--pid={busy.pid}")
    until(lambda: not code_is_that_of_the_file(busy.pid, program))
    recorder.send_signal(signal.SIGUSR1)
    enter_later(busy)
    recorder.send_signal(signal.SIGTERM)
    assert finish(recorder).status == 0
    end(busy)


def test_recorder_is_killed(compile, spawn, start, attach):
    """A recorder that is killed does not take the process with it; another recording takes its
    breakpoints out."""
    program = compile("signals.c", "-O1")
    process = spawn(program, "wait", stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    killed = start(f"--pid={process.pid}")
    until(lambda: not code_is_that_of_the_file(process.pid, program))
    killed.kill()
    killed.wait()
    assert not code_is_that_of_the_file(process.pid, program)
    assert attach(process, "--for=0.02").status == 125  # nothing was entered
    assert code_is_that_of_the_file(process.pid, program)
    assert process.communicate("x", timeout=60) == ("gone on\n", "")
    assert process.returncode == 0


def test_library_that_is_loaded(compile, spawn, attach, tmp_path):
    """--module records a library that was loaded before."""
    library = compile('int in_library(void) { return 5; }', "-shared", "-fPIC", name="libpart.so")
    program = compile(r"""
        #include <stdio.h>
        #include <unistd.h>
        int in_library(void);
        int main(void) {
          char byte;
          puts("ready");
          fflush(stdout);
          if (read(0, &byte, 1) != 1) return 9;
          return in_library();
        }""", library, f"-Wl,-rpath,{tmp_path}", name="loads")
    process = spawn(program, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    threading.Thread(target=lambda: (until(lambda: tracers_of(process.pid) != {0}
                                           and not code_is_that_of_the_file(process.pid, library)),
                                     process.stdin.write("x"), process.stdin.flush())).start()
    recording = attach(process, "--module=libpart.so")
    assert (recording.status, process.wait(timeout=60)) == (0, 5)
    assert "in_library" in Binary(library).named(recording.trace.addresses(library))


@pytest.mark.parametrize(("options", "said"), [
    (["--pid=0"], "--pid: not the number of a process"),
    (["--pid=-3"], "--pid: not the number of a process"),
    (["--pid=1", "--", "true"], "--pid: goes without a command"),
])
def test_usage(options, said, tracer, run):
    """Wrong options are named, with status 2."""
    assert said in run(tracer, *options, code=2).stderr


def test_no_such_process(tracer, run, tmp_path):
    """A process that does not exist."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    result = run(tracer, "-o", tmp_path / "t", f"--pid={gone.pid}", code=125)
    assert f"process {gone.pid}: cannot be recorded: No such process" in result.stderr


def test_thread(busy, attach):
    """A thread is not a process; the one that it belongs to is named."""
    thread = next(int(t) for t in os.listdir(f"/proc/{busy.pid}/task") if int(t) != busy.pid)
    busy.pid, process = thread, busy.pid
    recording = attach(busy)
    busy.pid = process
    assert recording.status == 125
    assert f"process {thread}: is a thread of process {process}: give that one" in recording.stderr


def test_traced_already(busy, program, start, attach):
    """A process has one tracer."""
    first = start(f"--pid={busy.pid}")
    until(lambda: tracers_of(busy.pid) == {first.pid})
    recording = attach(busy)
    assert recording.status == 125
    assert f"is traced by process {first.pid} already" in recording.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_process_of_somebody_else(busy, start, tmp_path):
    """That is refused, with what would permit it."""
    (tmp_path / "traces").chmod(0o777)
    tmp_path.chmod(0o755)
    result = start(f"--pid={busy.pid}", "-o", "/tmp/%m.%p", user=NOBODY, group=NOBODY,
                   extra_groups=[])
    recording = Recording.until_its_end(result, tmp_path / "traces", 30)
    assert recording.status == 125
    error, note = recording.stderr.splitlines()
    assert error.endswith(f"process {busy.pid}: cannot be traced: Operation not permitted")
    assert "be root" in note and "kernel.yama.ptrace_scope=0" in note
