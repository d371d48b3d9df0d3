"""--pid: a process that runs is recorded from now on, and goes on as if nothing had been."""

import os
import signal
import subprocess
import tempfile

import pytest
from abilities import NOBODY, needs
from traced import (
    Binary,
    announced,
    callable_functions,
    code_is_that_of_the_file,
    tracers_of,
    until,
)


def load(count):
    """A server under load: threads that call so many functions in no order, while the first one may
    fork. Once its input has a byte, it enters others as well; it ends at the end of its input."""
    return f"enum {{ COUNT = {count} }};\n" + callable_functions(count) + r"""
        #include <poll.h>
        static void *work(void *seed) {
          for (unsigned x = (unsigned)(long)seed;; x = x * 1103515245 + 12345) {
            call((x >> 16) % COUNT);
            if ((x >> 16) % 4096 == 0)
              usleep(10);
          }
          return seed;
        }
        STEP(at_the_beginning) STEP(later) STEP(latest)
        int main(void) {
          struct pollfd input = {.fd = 0, .events = POLLIN};
          pthread_t thread;
          int status = 0;
          char byte;
          at_the_beginning();
          for (long i = 1; i <= 4; ++i)
            pthread_create(&thread, NULL, work, (void *)i);
          READY();
          for (;;) {
            if (FORKS && fork() == 0) {
              call(5);
              _exit(0);
            }
            if (FORKS && (wait(&status) < 0 || status != 0))
              return 9; /* a child has failed */
            if (poll(&input, 1, FORKS ? 0 : -1) == 1) {
              if (read(0, &byte, 1) != 1)
                return 3;
              later();
              latest();
              puts("later");
              fflush(stdout);
            }
          }
        }"""


@pytest.fixture
def program(compile):
    return compile(load(90), "-O1", "-pthread", "-DFORKS", name="busy")


@pytest.fixture
def running(spawn):
    """running(program): a process that has said that it is ready, and waits for input."""
    return lambda program, **options: announced(spawn(program, stdin=subprocess.PIPE, **options))


@pytest.fixture
def busy(program, running):
    """A server under load."""
    return running(program)


@pytest.fixture
def attach(start, finish):
    """attach(process, *options): a whole recording of a process."""
    return lambda process, *options: finish(start(f"--pid={process.pid}", *options))


@pytest.fixture
def attached(start):
    """A recording that has planted its breakpoints, in the process's program or a library."""

    def attached(process, *options, code=None, **more):
        recorder = start(f"--pid={process.pid}", *options, **more)
        until(lambda: not code_is_that_of_the_file(process.pid, code or process.args[0]))
        return recorder

    return attached


def enter_later(process):
    """Makes the process enter a function for the first time, so that something is recorded."""
    process.stdin.write("x")
    process.stdin.flush()
    announced(process, "later")


def end(process):
    process.communicate()
    assert process.returncode == 3


def test_end_in_the_midst(compile, running, attach):
    """The recording ends while threads run into breakpoints: none is left with a trap."""
    program = compile(load(10000), "-O1", "-pthread", "-DFORKS=0", name="midst")
    process = running(program)
    for i in range(5):
        attach(process, f"--for={0.001 + 0.001 * i}")
        assert process.poll() is None
        assert code_is_that_of_the_file(process.pid, program)
    end(process)


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_under_load(kind, compile, running, attach):
    """While threads run and the process forks, it is recorded several times in a row, unharmed."""
    program = compile(load(90), "-O1", "-pthread", "-DFORKS", kind, name="busy")
    process = running(program)
    for last in ("f10", "f50", "f89"):
        recording = attach(process, f"--until={last}")
        assert recording.status == 0
        assert tracers_of(process.pid) == {0}
        assert code_is_that_of_the_file(process.pid, program)
    names = {name for trace in recording.of(program)
             for name in Binary(program).named(trace.addresses())}
    assert names >= {"f10", "f50", "f89"}
    assert not names & {"main", "at_the_beginning", "later"}
    end(process)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_by_an_interrupt(number, program, busy, attached, finish):
    """Ctrl-C ends the recording, not the process; another signal neither of them."""
    recorder = attached(busy)
    assert tracers_of(busy.pid) == {recorder.pid}
    recorder.send_signal(signal.SIGUSR1)
    enter_later(busy)
    recorder.send_signal(number)
    recording = finish(recorder)
    assert (recording.status, recording.stderr) == (0, "")
    trace = next(trace for trace in recording.of(program) if trace.pid == busy.pid)
    assert "later" in Binary(program).named(trace.addresses())
    assert tracers_of(busy.pid) == {0} and code_is_that_of_the_file(busy.pid, program)
    end(busy)


def test_closed_standard_descriptors(compile, running, attached, finish):
    """What the recorder has to say does not get into its trace, which has descriptor 2."""
    program = compile(r"""
        STEP(later) STEP(latest)
        int main(void) {
          char byte;
          READY();
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
    process = running(program)
    recorder = attached(process, preexec_fn=lambda: (os.close(1), os.close(2)))
    enter_later(process)
    recorder.send_signal(signal.SIGINT)
    recording = finish(recorder)
    assert recording.status == 0
    assert Binary(program).named(recording.of(program)[0].addresses()) == ["later", "latest"]
    end(process)


def test_ends_at_a_function(program, busy, attached, finish):
    """--until ends it; the trace says that the startup was over, and has that function last."""
    recorder = attached(busy, "--until=later")
    busy.stdin.write("x")
    busy.stdin.flush()
    recording = finish(recorder)
    assert (recording.status, recording.stderr) == (0, "")
    trace = next(trace for trace in recording.of(program) if trace.pid == busy.pid)
    names = Binary(program).named(trace.addresses())
    assert trace.startup_done and names[-1] == "later" and "latest" not in names
    assert code_is_that_of_the_file(busy.pid, program)
    end(busy)


@pytest.mark.parametrize("options, role", [([], "utility"), (["--role=late"], "late")])
def test_process_ends(program, running, attached, finish, options, role):
    """The recording ends, too. The role is that of --role, or of the environment."""
    process = running(program, env={**os.environ, "FRONTLOAD_ROLE": "utility"})
    recorder = attached(process, *options)
    end(process)
    recording = finish(recorder)
    assert (recording.status, recording.stderr) == (0, "")
    trace = recording.of(program)[0]
    assert trace.role == role and "_fini" in Binary(program).named(trace.addresses())


def test_library_that_is_loaded(compile, running, attached, finish, tmp_path):
    """--module records a library that was loaded before."""
    library = compile("int in_library(void) { return 5; }", "-shared", "-fPIC", name="libpart.so")
    program = compile(r"""
        int in_library(void);
        int main(void) {
          char byte;
          READY();
          return read(0, &byte, 1) == 1 ? in_library() : 9;
        }""", library, f"-Wl,-rpath,{tmp_path}", name="loads")
    process = running(program)
    recorder = attached(process, "--module=libpart.so", code=library)
    process.communicate("x")
    recording = finish(recorder)
    assert (recording.status, process.returncode) == (0, 5)
    assert "in_library" in Binary(library).named(recording.trace.addresses(library))


def test_no_such_process(busy, tracer, run, tmp_path):
    """A process that does not exist; and a thread, whose process is named."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    thread = next(int(t) for t in os.listdir(f"/proc/{busy.pid}/task") if int(t) != busy.pid)
    for number, said in ((gone.pid, "cannot be recorded: No such process"),
                         (thread, f"is a thread of process {busy.pid}: give that one")):
        result = run(tracer, "-o", tmp_path / "t", f"--pid={number}", code=125)
        assert f"process {number}: {said}" in result.stderr


def test_traced_already(busy, attached, attach):
    """A process has one tracer."""
    first = attached(busy)
    recording = attach(busy)
    assert recording.status == 125
    assert f"is traced by process {first.pid} already" in recording.stderr


@needs("another-user")
def test_process_of_somebody_else(busy, tracer, run):
    """That is refused, with what would permit it."""
    result = run(tracer, "-o", f"{tempfile.gettempdir()}/%m.%p", f"--pid={busy.pid}", code=125,
                 user=NOBODY, group=NOBODY, extra_groups=[])
    error, note = result.stderr.splitlines()
    assert error.endswith(f"process {busy.pid}: cannot be traced: Operation not permitted")
    assert "be root" in note and "kernel.yama.ptrace_scope=0" in note
