"""The end of a recording before the end of the program: --until and --for."""

import subprocess

import pytest
from traced import (
    Binary,
    announced,
    callable_functions,
    children,
    code_is_that_of_the_file,
    tracers_of,
    until,
)


@pytest.fixture
def program(compile):
    """A hundred functions, then a word to whoever watches, then a wait, then a hundred more."""
    return compile(callable_functions(200) + r"""
        STEP(startup_is_over)
        static void *late(void *unused) {
          char byte;
          while (read(0, &byte, 1) == 1 && byte != 'x')
            ;
          for (int i = 100; i < 200; ++i)
            call(i);
          return unused;
        }
        int main(int argc, char **argv) {
          pthread_t threads[4];
          for (int i = 0; i < 100; ++i)
            call(i);
          int status, is_parent = argc == 1 || strcmp(argv[1], "fork") || fork();
          for (int i = 0; i < 4; ++i)
            pthread_create(&threads[i], NULL, late, NULL);
          if (argc > 1 && is_parent)
            startup_is_over();
          READY();
          for (int i = 0; i < 4; ++i)
            pthread_join(threads[i], NULL);
          if (wait(&status) > 0 && status != 5 << 8)
            return 9;
          puts("gone on");
          return 5;
        }""", "-O1", "-pthread", name="steps")


@pytest.mark.parametrize("how", [["--until=startup_is_over"], ["--for=0.1"]])
@pytest.mark.parametrize("what", ["plain", "fork"])
def test_recording_ends(how, what, program, start, finish):
    """The header says so, and all processes run on without a tracer and its breakpoints."""
    process = announced(start(*how, "--", program, what, stdin=subprocess.PIPE),
                        *["ready"] * (2 if what == "fork" else 1))
    (parent,) = children(process.pid)
    pids = [parent, *children(parent)]
    until(lambda: all(tracers_of(pid) == {0} for pid in pids))
    assert all(code_is_that_of_the_file(pid, program) for pid in pids)
    process.stdin.write("xxxxxxxx")
    recording = finish(process)
    assert recording.status == 5
    assert recording.stdout.count("gone on") == len(pids)
    trace = recording.of(program)[0]
    called = [n for n in Binary(program).named(trace.addresses()) if n[1:].isdigit()]
    assert trace.startup_done and called == [f"f{n}" for n in range(100)][:len(called)]
    # The time may be over before the program has called them all, or any.
    assert how == ["--for=0.1"] or len(called) == 100


def test_until_an_alias(compile, record):
    """Any of the names of a function will do. It is the last one in the trace."""
    program = compile("order.c", "-O1")
    trace = record("--until=another_name", "--", program).trace
    assert Binary(program).named(trace.addresses())[-1] == "alias_target" and trace.startup_done


def test_until_that_does_not_exist(program, record):
    """A function that no program has is said at the end; all was recorded."""
    recording = record("--until=f", "--", program, stdin=subprocess.DEVNULL)
    assert recording.stderr == (
        "frontload-trace: warning: --until=f: no recorded program has a function of this "
        "name\n")
    assert not recording.trace.startup_done and recording.status == 5


def test_until_in_an_exec(compile, program, record):
    """The programs that the command executes are watched for the function too."""
    wrapper = compile("""
        int main(int n, char **argv) { execv(argv[1], argv + 1); return 9; }""", name="wrapper")
    recording = record("--until=f49", "--", wrapper, program, stdin=subprocess.DEVNULL)
    (first,), (second,) = recording.of(wrapper), recording.of(program)
    assert (first.startup_done, second.startup_done) == (False, True)
