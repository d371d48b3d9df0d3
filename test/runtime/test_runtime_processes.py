"""Processes: every one writes a file of its own, and every kind of end keeps what was recorded."""

import signal

import pytest
from abilities import needs
from instrumented import TRACER
from places import ALL
from runtime_trace import decode

SHARED = [f"shared_{i:02}" for i in range(100)]
OWN = {"before", "in_parent", "in_child", "in_grandchild", "in_both", "after", "leaf", "main",
       *SHARED}


@pytest.fixture
def ways(cc, record):
    """Each trace of a way to make processes, with the functions of its own, by process id."""
    program = cc((TRACER / "programs/processes.c").read_text(), "-pthread")

    def ways(what, **options):
        traces = record(program, what, **options).traces
        return [(path, trace, [name for name in trace.names() if name in OWN])
                for path, trace in sorted(traces.items(), key=lambda item: item[1].pid)]

    return ways


def test_fork_without_exec(ways):
    """The child records anew, in a file named by its pid; the parent's is not cut, nor doubled."""
    found = ways("fork")
    assert [names for _, _, names in found] == [
        ["main", "before", "after", "in_parent", "in_both"], ["before", "in_child", "in_both"],
        ["in_child", "in_grandchild"]]
    assert all(path.name == f"program.{trace.pid}.trace" for path, trace, _ in found)


def test_fork_with_threads(ways):
    """Children forked while other threads are making first touches record their own."""
    (_, _, parent), *children = ways("threads-fork")
    assert sorted(parent) == sorted(["main", *SHARED, "after"])
    assert [names for _, _, names in children] == 8 * [SHARED[30:]]


def test_posix_spawn(ways):
    """A spawned program has a trace of its own; a failed spawn ends nothing."""
    assert [names for _, _, names in ways("spawn")] == [["main", "after"], ["main", "leaf"]]
    assert [names for _, _, names in ways("failed-spawn")] == [["main", "before", "after"]]


def test_exec_keeps_what_was_before(ways):
    """A failed exec changes nothing; a successful one begins another trace beside it."""
    (first, before, old), (second, after, new) = ways("exec", pattern="%p")
    assert second.name == f"{first.name}.1" and before.pid == after.pid
    assert (old, new) == (["main", "before", "after"], ["main", "leaf"])


def test_vfork_and_exec(cc, record):
    """A vfork child runs in its parent's memory: what it touches, and its startup_done, leave no
    mark there, nor does an exec that fails; the program it executes has a trace of its own."""
    program = cc("""
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
    parent, child = record(program, code=5).printed
    assert parent.names() == ["main", "between"]
    assert {event.thread for event in parent.events} == {parent.pid}
    assert child.names() == ["main", "executed"]
    assert not parent.startup_done and not child.startup_done


@pytest.mark.parametrize("forked", [False, True])
def test_vfork_child_comes_first(cc, record, forked):
    """A vfork child that makes the first touch of all, and says that startup is over, leaves its
    parent's recording as it was. In a child of fork nobody can tell them apart by then: its first
    touch is in its parent's trace, which goes on."""
    program = cc("""
        KEPT void in_child(void) {}
        KEPT void after(void) {}
        NOT_RECORDED int main(int argc, char **argv) {
          (void)argv;
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
    (trace,) = record(program, *(["fork"] if forked else []), code=3).printed
    assert trace.names() == (["in_child", "after"] if forked else ["after"])
    assert not trace.startup_done


@needs("another-user")
def test_child_of_another_user(cc, record, traces):
    """After becoming another user, a process is recorded on; its children warn, once each."""
    traces.chmod(0o755)
    program = cc("""
        #include <grp.h>
        KEPT void before(void) {}
        KEPT void after(void) {}
        KEPT void in_child(void) {}
        int main(void) {
          before();
          if (setgroups(0, 0) || setgid(65534) || setuid(65534))
            return 1;
          after();
          for (int i = 0; i < 2; ++i) {
            if (fork() == 0) {
              in_child();
              before();
              _exit(0);
            }
            wait(0);
          }
          return 7;
        }""")
    recording = record(program, code=7)
    assert recording.only.names() == ["main", "before", "after"]
    lines = recording.result.stderr.splitlines()
    assert len(lines) == 2 and all(
        line.startswith(f"frontload-rt: warning: {traces}/program.")
        and "Permission denied (the program runs unrecorded)" in line for line in lines)


@pytest.mark.parametrize("end, code", [
    ("_exit(3)", 3), ("quick_exit(4)", 4), ("abort()", -signal.SIGABRT),
    ("kill(getpid(), SIGKILL)", -signal.SIGKILL), ("*(volatile int *)8 = 1", -signal.SIGSEGV),
    ("pthread_exit(0)", 0)])
def test_every_end_keeps_every_touch(cc, record, end, code):
    """Whatever ends the process, all touches up to it are in the file."""
    program = cc("""
        KEPT void last(void) { END; }
        int main(void) {
          last();
          return 1;
        }""", f"-DEND={end}")
    assert record(program, code=code).only.names() == ["main", "last"]


PROCESSES = 1000 if ALL else 100


@pytest.fixture
def brood(cc):
    """A program with very many children that are alive together."""
    return cc("""
        KEPT void in_child(void) {}
        int main(void) {
          int touched[2], end[2];
          char byte = 0;
          if (pipe(touched) || pipe(end))
            return 2;
          for (int i = 0; i < PROCESSES; ++i) {
            pid_t child = fork();
            if (child < 0)
              return 3;
            if (child == 0) {
              close(end[1]);
              in_child();
              _exit(write(touched[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 0);
            }
          }
          for (int i = 0; i < PROCESSES; ++i)
            if (read(touched[0], &byte, 1) != 1)
              return 4;
          close(end[1]);
          int status, failed = 0;
          while (wait(&status) > 0)
            failed |= status != 0;
          return failed;
        }""", f"-DPROCESSES={PROCESSES}")


def check_brood(recording):
    assert len({t.pid for t in recording.traces.values()}) == len(recording.traces) == PROCESSES + 1
    assert sorted(t.names() for t in recording.traces.values()) == (
        [["in_child"]] * PROCESSES + [["main"]])


def test_a_thousand_processes(brood, frontload, record, tmp_path):
    """Each writes a distinct, complete trace, and all make one profile of one run."""
    recording = record(brood)
    check_brood(recording)
    frontload("profile", *recording.traces, "-o", tmp_path / "app.startup")
    profile = (tmp_path / "app.startup").read_text().splitlines()
    assert "runs 1" in profile
    assert [line.split("\t")[-1] for line in profile[-2:]] == ["main", "in_child"]


def test_no_two_writers_in_one_file(brood, record, traces):
    """Processes that are all told the same path, a link that is there, write a file each."""
    (traces.parent / "kept").write_text("mine")
    (traces / "same").symlink_to(traces.parent / "kept")
    recording = record(brood, pattern="same", skip="same")
    assert (traces / "same").read_text() == "mine"
    assert {p.name for p in recording.traces} == {f"same.{n + 1}" for n in range(PROCESSES + 1)}
    check_brood(recording)


@pytest.mark.parametrize("taken", [0, 1, 2, 3, 1000, 10000])
def test_thousands_of_the_same_name(cc, run_with, strace, traces, taken):
    """Where thousands of traces have the name already, few system calls find a free number."""
    for n in range(taken):
        (traces / f"same.{n}" if n else traces / "same").touch()
    log = traces.parent / "calls"
    run_with(traces / "same", strace, "-f", "-e", "trace=openat", "-o", log,
             cc("int main(void) { return 0; }"))
    made = decode(traces / (f"same.{taken}" if taken else "same"))
    assert made.names() == ["main"]
    assert log.read_text().count(f"{traces}/same") <= 2 + 2 * taken.bit_length()
