"""Processes: every one writes a file of its own, and every kind of end keeps what was recorded."""

import os
import signal

import pytest
from runtime_trace import decode

WAIT = """
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
"""


def test_fork_without_exec(cc, record, traces):
    """The child records anew, in a file named by its pid; the parent's is not cut, nor doubled."""
    program = cc(WAIT + """
        KEPT void before(void) {}
        KEPT void both(void) {}
        KEPT void in_child(void) { before(); }
        KEPT void in_parent(void) {}
        int main(void) {
          before();
          pid_t child = fork();
          if (child == 0) {
            both();
            in_child();
            _exit(0);
          }
          waitpid(child, 0, 0);
          both();
          in_parent();
          printf("%d %d", getpid(), child);
          return 0;
        }""")
    recording = record(program)
    parent, child = recording.result.stdout.split()
    assert {p.name for p in recording.traces} == {
        f"program.{parent}.trace", f"program.{child}.trace"}
    assert recording.of(parent).names() == ["main", "before", "both", "in_parent"]
    assert recording.of(child).names() == ["both", "in_child", "before"]


def test_fork_with_threads(cc, record):
    """Children forked while other threads are making first touches record their own."""
    program = cc(WAIT + """
        #include <pthread.h>
        #define F(n) KEPT void f##n(void) {}
        #define ENTRY(n) f##n,
        HUNDRED(F, 1)
        void (*const functions[])(void) = {HUNDRED(ENTRY, 1)};
        static int go;
        KEPT void *work(void *unused) {
          while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) {}
          for (int i = 0; i < 100; ++i)
            functions[i]();
          return unused;
        }
        KEPT void in_child(void) {}
        int main(void) {
          pthread_t threads[3];
          for (int i = 0; i < 3; ++i)
            pthread_create(&threads[i], 0, work, 0);
          __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
          for (int i = 0; i < 40; ++i)
            if (fork() == 0) {
              in_child();
              _exit(0);
            }
          for (int i = 0; i < 3; ++i)
            pthread_join(threads[i], 0);
          int status, failed = 0;
          while (wait(&status) > 0)
            failed += status != 0;
          printf("%d", getpid());
          return failed;
        }""", "-pthread")
    recording = record(program)
    assert len(recording.traces) == 41
    parent = recording.of(recording.result.stdout)
    assert sorted(parent.names()) == sorted(
        ["main", "work", *(f"f{n}" for n in range(100, 200))])
    for trace in recording.traces.values():
        assert trace is parent or trace.names() == ["in_child"]


def test_fork_in_a_signal_handler(cc, record):
    """A child made by a handler returns into the interrupted code and records there."""
    program = cc(WAIT + """
        KEPT void after(void) {}
        static volatile sig_atomic_t child;
        KEPT void handler(int signal) { (void)signal; child = fork(); }
        int main(void) {
          signal(SIGUSR1, handler);
          raise(SIGUSR1);
          after();
          if (child == 0)
            _exit(0);
          waitpid(child, 0, 0);
          printf("%d %d", getpid(), child);
          return 0;
        }""")
    recording = record(program)
    parent, child = recording.result.stdout.split()
    assert recording.of(parent).names() == ["main", "handler", "after"]
    assert recording.of(child).names() == ["after"]


def test_vfork_and_exec(cc, record):
    """A vfork child runs in its parent's memory: what it touches, and its startup_done, leave no
    mark there, nor does an exec that fails; the program it executes has a trace of its own."""
    program = cc(WAIT + """
        #include <frontload.h>
        KEPT void between(void) {}
        KEPT void executed(void) {}
        int main(int argc, char **argv) {
          if (argc > 1) {
            executed();
            return 5;
          }
          char *arguments[] = {argv[0], "again", 0};
          pid_t child = vfork();
          if (child == 0) {
            between();
            frontload_startup_done();
            execv("/nonexistent", arguments);
            execv(argv[0], arguments);
            _exit(1);
          }
          int status;
          waitpid(child, &status, 0);
          between();
          printf("%d %d", getpid(), child);
          return WEXITSTATUS(status);
        }""")
    recording = record(program, code=5)
    parent, child = recording.result.stdout.split()
    assert recording.of(parent).names() == ["main", "between"]
    assert {event.thread for event in recording.of(parent).events} == {int(parent)}
    assert recording.of(child).names() == ["main", "executed"]
    assert not any(trace.done for trace in recording.traces.values())


@pytest.mark.parametrize("forked", [False, True])
def test_vfork_child_comes_first(cc, record, forked):
    """A vfork child that makes the first touch of all, and says that startup is over, leaves its
    parent's recording as it was. In a child of fork nobody can tell them apart by then: its first
    touch is in its parent's trace, which goes on."""
    program = cc(WAIT + """
        #include <frontload.h>
        KEPT void in_child(void) {}
        KEPT void after(void) {}
        NOT_RECORDED int main(int argc, char **argv) {
          if (argc > 1 && fork()) {
            int status;
            wait(&status);
            return WEXITSTATUS(status);
          }
          pid_t child = vfork();
          if (child == 0) {
            in_child();
            if (argc == 1)
              frontload_startup_done();
            _exit(0);
          }
          waitpid(child, 0, 0);
          after();
          printf("%d", getpid());
          return 3;
        }""")
    recording = record(program, *(["fork"] if forked else []), code=3)
    trace = recording.only
    assert trace.names() == (["in_child", "after"] if forked else ["after"])
    assert trace.pid == int(recording.result.stdout) and not trace.done


def test_posix_spawn(cc, record):
    """A spawned program has a trace of its own. That there is none of that name is said to the
    parent, which is recorded on."""
    program = cc(WAIT + """
        #include <spawn.h>
        extern char **environ;
        KEPT void spawned(void) {}
        KEPT void after(void) {}
        int main(int argc, char **argv) {
          if (argc > 1) {
            spawned();
            return 0;
          }
          char *arguments[] = {argv[0], "again", 0};
          pid_t child;
          if (posix_spawn(&child, "/nonexistent", 0, 0, arguments, environ) != ENOENT)
            return 1;
          posix_spawn(&child, argv[0], 0, 0, arguments, environ);
          waitpid(child, 0, 0);
          after();
          printf("%d %d", getpid(), child);
          return 0;
        }""")
    recording = record(program)
    parent, child = recording.result.stdout.split()
    assert len(recording.traces) == 2
    assert recording.of(parent).names() == ["main", "after"]
    assert recording.of(child).names() == ["main", "spawned"]


def test_child_of_another_user(cc, record, root, traces):
    """A process that has become a user who may not write to the folder is recorded on, in its file;
    the children that it forks then run unrecorded, each with one warning."""
    traces.chmod(0o755)
    program = cc(WAIT + """
        #include <grp.h>
        KEPT void before(void) {}
        KEPT void after(void) {}
        KEPT void in_child(void) {}
        int main(void) {
          before();
          if (setgroups(0, 0) || setgid(65534) || setuid(65534))
            return 1;
          after();
          int status, sum = 0;
          for (int i = 1; i <= 2; ++i) {
            if (fork() == 0) {
              in_child();
              before();
              _exit(i);
            }
            wait(&status);
            sum += WEXITSTATUS(status);
          }
          return sum + 4;
        }""")
    recording = record(program, code=1 + 2 + 4)
    assert recording.only.names() == ["main", "before", "after"]
    lines = recording.result.stderr.splitlines()
    assert len(lines) == 2 and all(
        line.startswith(f"frontload-rt: warning: {traces}/program.")
        and "Permission denied (the program runs unrecorded)" in line for line in lines)


def test_exec_keeps_what_was_before(cc, record):
    """A failed exec changes nothing; a successful one leaves the trace and starts another beside
    it, although the pid is the same."""
    program = cc(WAIT + """
        KEPT void before(void) {}
        KEPT void after_failure(void) {}
        KEPT void executed(void) {}
        int main(int argc, char **argv) {
          if (argc > 1) {
            executed();
            return 3;
          }
          before();
          execl("/nonexistent", "x", (char *)0);
          after_failure();
          execl(argv[0], argv[0], "again", (char *)0);
          return 1;
        }""")
    recording = record(program, code=3, pattern="%p")
    (first, before), (second, after) = recording.traces.items()
    assert second.name == f"{first.name}.1" and before.pid == after.pid
    assert before.names() == ["main", "before", "after_failure"]
    assert after.names() == ["main", "executed"]


@pytest.mark.parametrize("end, code", [
    ("_exit(3)", 3), ("quick_exit(4)", 4), ("abort()", -signal.SIGABRT),
    ("kill(getpid(), SIGKILL)", -signal.SIGKILL), ("*(volatile int *)8 = 1", -signal.SIGSEGV),
    ("pthread_exit(0)", 0)])
def test_every_end_keeps_every_touch(cc, record, end, code):
    """Whatever ends the process, all touches up to it are in the file."""
    program = cc(WAIT + """
        #include <pthread.h>
        KEPT void last(void) { END; }
        int main(void) {
          last();
          return 1;
        }""", f"-DEND={end}")
    assert record(program, code=code).only.names() == ["main", "last"]


def test_a_thousand_processes(cc, frontload, record, tmp_path):
    """A thousand children that are alive together write a thousand distinct, complete traces, which
    make one profile of one run."""
    program = cc(WAIT + """
        KEPT void in_child(void) {}
        int main(void) {
          int touched[2], end[2];
          char byte = 0;
          if (pipe(touched) || pipe(end))
            return 2;
          for (int i = 0; i < 1000; ++i) {
            pid_t child = fork();
            if (child < 0)
              return 3;
            if (child == 0) {
              close(end[1]);
              in_child();
              _exit(write(touched[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 0);
            }
          }
          for (int i = 0; i < 1000; ++i)
            if (read(touched[0], &byte, 1) != 1)
              return 4;
          close(end[1]);
          int status, failed = 0;
          while (wait(&status) > 0)
            failed |= status != 0;
          printf("%d", getpid());
          return failed;
        }""")
    recording = record(program)
    parent = recording.of(recording.result.stdout)
    assert len({t.pid for t in recording.traces.values()}) == len(recording.traces) == 1001
    assert all(t.names() == (["main"] if t is parent else ["in_child"])
               for t in recording.traces.values())
    frontload("profile", *recording.traces, "-o", tmp_path / "app.startup")
    profile = (tmp_path / "app.startup").read_text().splitlines()
    assert "runs 1" in profile
    assert [line.split("\t")[-1] for line in profile[-2:]] == ["main", "in_child"]


@pytest.mark.parametrize("taken", [0, 1, 2, 3, 1000, 10000])
def test_thousands_of_the_same_name(cc, run, strace, traces, taken):
    """Where thousands of traces have the name already, as in a folder that containers share in each
    of which the program is process 1, the next number is found by few system calls."""
    for n in range(taken):
        (traces / f"same.{n}" if n else traces / "same").touch()
    log = traces.parent / "calls"
    program = cc("int main(void) { return 0; }")
    run(strace, "-f", "-e", "trace=openat", "-o", log, program,
        env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/same"})
    made = decode(traces / (f"same.{taken}" if taken else "same"))
    assert made.names() == ["main"]
    assert log.read_text().count(f"{traces}/same") <= 2 + 2 * taken.bit_length()


def test_no_two_writers_in_one_file(cc, record, traces):
    """Two hundred processes that are all told the same path, where a link to a file is
    already, write two hundred files, and leave that one alone."""
    (traces.parent / "kept").write_text("mine")
    (traces / "same").symlink_to(traces.parent / "kept")
    program = cc(WAIT + """
        KEPT void in_child(void) {}
        NOT_RECORDED int main(void) {
          for (int i = 0; i < 200; ++i)
            if (fork() == 0) {
              in_child();
              _exit(0);
            }
          int status, failed = 0;
          while (wait(&status) > 0)
            failed |= status != 0;
          return failed;
        }""")
    recording = record(program, pattern="same", skip="same")
    assert (traces / "same").read_text() == "mine"
    assert {p.name for p in recording.traces} == {f"same.{n}" for n in range(1, 201)}
    assert len({t.pid for t in recording.traces.values()}) == 200
    assert all(t.names() == ["in_child"] for t in recording.traces.values())
