"""Processes that a program makes in other ways than by fork alone, and very many at once: each has
a trace of its own."""

import pytest
from frontload.profile import format as profile
from recorded import Binary
from trace_decoder import VALGRIND, decode

PROGRAM = r"""
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <sched.h>
    #include <signal.h>
    #include <spawn.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define DATA __attribute__((aligned(16))) volatile int
    DATA my_before[4], my_child[4], my_spawned[4], my_after[4], my_stop[4], my_turns[4];
    static void *turn(void *unused) {
      (void)unused;
      while (!my_stop[0])
        my_turns[0] += 1;
      return NULL;
    }
    static int cloned(void *unused) {
      (void)unused;
      my_child[0] = 1;
      return 5;
    }
    static int reap(void) {
      int status;
      return wait(&status) < 0 || !WIFEXITED(status) ? 99 : WEXITSTATUS(status);
    }
    int main(int argc, char **argv) {
      const char *how = argc > 1 ? argv[1] : "";
      extern char **environ;
      char *spawned[] = {argv[0], "spawned", NULL};
      int status = 0;
      if (!strcmp(how, "spawned")) {
        my_spawned[0] = 1;
        return 5;
      }
      my_before[0] = 1;
      if (!strcmp(how, "fork among threads")) {
        pthread_t threads[3];
        for (int i = 0; i < 3; ++i)
          pthread_create(&threads[i], NULL, turn, NULL);
        for (int i = 0; i < 5; ++i) {
          if (fork() == 0) {
            my_child[0] = 1;
            _exit(1);
          }
          status += reap();
        }
        my_stop[0] = 1;
        for (int i = 0; i < 3; ++i)
          pthread_join(threads[i], NULL);
      } else if (!strcmp(how, "vfork")) {
        if (vfork() == 0) {
          my_child[0] = 1;
          _exit(5);
        }
        status = reap();
      } else if (!strcmp(how, "vfork and exec")) {
        if (vfork() == 0) {
          execv(spawned[0], spawned);
          _exit(1);
        }
        status = reap();
      } else if (!strcmp(how, "vfork and failed exec")) {
        if (vfork() == 0) {
          execl("/no/such/program", "program", (char *)0);
          my_child[0] = 1;
          _exit(5);
        }
        status = reap();
      } else if (!strcmp(how, "posix_spawn")) {
        pid_t child;
        if (posix_spawn(&child, spawned[0], NULL, NULL, spawned, environ) == 0)
          status = reap();
      } else if (!strcmp(how, "failed posix_spawn")) {
        pid_t child;
        status = posix_spawn(&child, "/no/such/program", NULL, NULL, spawned, environ) ? 5 : reap();
      } else if (!strcmp(how, "clone")) {
        static char stack[65536] __attribute__((aligned(16)));
        clone(cloned, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
        status = reap();
      }
      my_after[0] = 1;
      return status;
    }"""


@pytest.fixture
def program(compile):
    return compile(PROGRAM, "-pthread")


def touched(program, trace):
    return [name for name in Binary(program).touches(trace) if "+" in name]


# By the way in which they are made: what each of them touches.
CHILDREN = {
    "fork among threads": [["my_child+0"]] * 5,
    "vfork": [["my_child+0"]],
    "vfork and exec": [["my_spawned+0"]],
    "vfork and failed exec": [["my_child+0"]],
    "posix_spawn": [["my_spawned+0"]]}


@pytest.mark.parametrize("how", CHILDREN)
def test_children(how, program, start, finish):
    """The program goes on when its child has ended. What each of them touches is in its own trace,
    whose name and header have its own process id."""
    process = start("--", program, how)
    recording = finish(process)
    assert (recording.status, recording.stderr) == (5, "")
    data: dict[int, list[str]] = {}
    for file in recording.files:
        trace = decode(file, VALGRIND)
        # A child that executes another program has a trace of each.
        assert file.name in (f"program.{trace.pid}.fltrace", f"program.{trace.pid}.fltrace.1")
        data.setdefault(trace.pid, []).extend(touched(program, trace))
    of_threads = {"my_stop+0", "my_turns+0"}
    assert [name for name in data.pop(process.pid) if name not in of_threads] == [
        "my_before+0", "my_after+0"]
    assert list(data.values()) == CHILDREN[how]


@pytest.mark.parametrize(("how", "status", "said"), [
    ("failed posix_spawn", 127, None), ("clone", 1, "Unsupported clone() flags")])
def test_children_that_valgrind_cannot_make(how, status, said, program, record, run):
    """A child that shares the memory of its parent is one of its own, or none, with any tool of
    valgrind. What the parent has touched is in its trace."""
    run(program, how, code=5)
    stock = run("valgrind", "--quiet", "--tool=none", "--trace-children=yes", program, how,
                code=None)
    recording = record("--", program, how)
    assert recording.status == stock.returncode == status
    assert (said in recording.stderr) if said else recording.stderr == ""
    traces = recording.of(program)
    assert touched(program, traces[0]) == ["my_before+0", *["my_after+0"] * (said is None)]


PROCESSES = 60


def test_many_processes_of_one_name(compile, start, finish, frontload, tmp_path):
    """Processes that run at the same time, and whose traces have one name, never share a file: each
    has the whole trace of one process. All of them are merged into one profile."""
    program = compile(f"""
        #include <stdlib.h>
        #define DATA __attribute__((aligned(16))) volatile int
        DATA my_data[{PROCESSES} * 4], my_even[4], my_odd[4];
        int main(int argc, char **argv) {{
          int number = atoi(argv[argc - 1]);
          my_data[number * 4] = 1;
          if (number % 2)
            my_odd[0] = 1;
          else
            my_even[0] = 1;
          return number;
        }}""")
    running = [start("-o", tmp_path / "traces/one.fltrace", "--", program, str(number))
               for number in range(PROCESSES)]
    for process in running:
        process.wait(100)
    recordings = [finish(process) for process in running]
    assert [(r.status, r.stdout, r.stderr) for r in recordings] == [
        (number, "", "") for number in range(PROCESSES)]
    recording = recordings[-1]
    assert len(recording.files) == PROCESSES
    assert {trace.pid for trace in recording.traces} == {
        process.pid for process in running}
    assert sorted(touched(program, trace) for trace in recording.traces) == sorted(
        [f"my_data+{16 * number}", "my_odd+0" if number % 2 else "my_even+0"]
        for number in range(PROCESSES))
    frontload("profile", tmp_path / "traces", "-o", tmp_path / "profile")
    runs = {name.name: touch.runs for name, touch in
            profile.read(tmp_path / "profile").in_order()}
    assert runs.items() >= {b"main": PROCESSES, b"my_data": PROCESSES, b"my_even": PROCESSES // 2,
                            b"my_odd": PROCESSES // 2}.items()


CHILDREN_OF_ONE = 1000


def test_a_thousand_children(compile, record, frontload, tmp_path):
    """Forked children, many at a time, whose traces have one name: each has a file of its own, and
    all of them are merged into one profile. (A thousand commands, in each of which Valgrind
    starts, would take more than a minute. So the test above has sixty.)"""
    program = compile(f"""
        #include <sys/wait.h>
        #include <unistd.h>
        #define DATA __attribute__((aligned(16))) volatile int
        DATA my_data[{CHILDREN_OF_ONE} * 4], my_parent[4];
        int main(void) {{
          int status, failed = 0;
          for (int i = 0; i < {CHILDREN_OF_ONE}; ++i) {{
            if (fork() == 0) {{
              my_data[i * 4] = 1;
              _exit(0);
            }}
            if (i >= 20)
              failed += wait(&status) < 0 || status;
          }}
          while (wait(&status) > 0)
            failed += status != 0;
          my_parent[0] = 1;
          return failed != 0;
        }}""")
    recording = record("-o", tmp_path / "traces/one.fltrace", "--", program)
    assert (recording.status, recording.stderr) == (0, "")
    assert len(recording.files) == CHILDREN_OF_ONE + 1
    traces, binary = recording.traces, Binary(program)
    assert len({trace.pid for trace in traces}) == CHILDREN_OF_ONE + 1
    data = sorted(name for trace in traces for name in binary.touches(trace) if "+" in name)
    assert data == sorted(["my_parent+0", *(f"my_data+{16 * n}" for n in range(CHILDREN_OF_ONE))])
    frontload("profile", tmp_path / "traces", "-o", tmp_path / "profile")
    runs = {name.name: touch.runs for name, touch in
            profile.read(tmp_path / "profile").in_order()}
    assert runs.items() >= {b"main": 1, b"my_data": 1, b"my_parent": 1}.items()
