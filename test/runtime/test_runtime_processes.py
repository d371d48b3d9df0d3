"""Processes: every one writes a file of its own, and every kind of end keeps what was recorded."""

import pytest
from abilities import needs
from instrumented import TRACER
from places import ALL
from process_order import by_start
from runtime_trace import decode

SHARED = [f"shared_{i:02}" for i in range(100)]


def test_fork_with_threads(cc, record):
    """Children forked while other threads are making first touches record their own."""
    program = cc((TRACER / "programs/processes.c").read_text(), "-pthread")
    parent, *children = by_start(record(program, "threads-fork").traces.values())
    assert set(parent.names()) >= {"main", *SHARED, "after"}
    assert [[name for name in child.names() if name in SHARED] for child in children] == (
        8 * [SHARED[30:]])


def test_vfork_and_exec(cc, record):
    """A vfork child leaves no mark in its parent; what it executes has a trace of its own."""
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


def test_vfork_child_comes_first(cc, record):
    """Even if it makes the first touch of all, and says that startup is over, and a role."""
    program = cc("""
        KEPT void in_child(void) {}
        KEPT void after(void) {}
        NOT_RECORDED int main(void) {
          pid_t child = vfork();
          if (child == 0) {
            in_child();
            frontload_set_role("child");
            frontload_startup_done();
            _exit(0);
          }
          waitpid(child, 0, 0);
          after();
          return 3;
        }""")
    trace = record(program, code=3, environment={"FRONTLOAD_ROLE": "parent"}).only
    assert (trace.names(), trace.role, trace.startup_done) == (["after"], "parent", False)


@needs("another-user")
def test_child_of_another_user(cc, record, traces):
    """After becoming another user, a process is recorded on; its children warn, once each."""
    traces.chmod(0o755)
    program = cc("""
        #include <grp.h>
        KEPT void in_child(void) {}
        int main(void) {
          if (setgroups(0, 0) || setgid(65534) || setuid(65534))
            return 1;
          for (int i = 0; i < 2; ++i) {
            if (fork() == 0) {
              in_child();
              in_child();
              _exit(0);
            }
            wait(0);
          }
          in_child();
          return 7;
        }""")
    recording = record(program, code=7)
    assert recording.only.names() == ["main", "in_child"]
    lines = recording.result.stderr.splitlines()
    assert len(lines) == 2 and all(
        line.startswith(f"frontload-rt: warning: {traces}/program.")
        and "Permission denied (the program runs unrecorded)" in line for line in lines)


PROCESSES = 1000 if ALL else 100


@pytest.fixture
def brood(cc):
    """A program with very many children that are alive together."""
    return cc("""
        KEPT void in_child(void) {}
        int main(void) {
          int end[2];
          char byte;
          if (pipe(end))
            return 2;
          for (int i = 0; i < PROCESSES; ++i) {
            pid_t child = fork();
            if (child < 0)
              return 3;
            if (child == 0) {
              close(end[1]);
              in_child();
              _exit(read(end[0], &byte, 1) != 0);
            }
          }
          close(end[1]);
          int status, failed = 0;
          while (wait(&status) > 0)
            failed |= status != 0;
          return failed;
        }""", f"-DPROCESSES={PROCESSES}")


def test_no_two_writers_in_one_file(brood, frontload, record, traces, tmp_path):
    """A thousand that are all told the same path, a link that is there, make one profile."""
    (traces.parent / "kept").write_text("mine")
    (traces / "same").symlink_to(traces.parent / "kept")
    recording = record(brood, pattern="same", skip="same")
    assert (traces / "same").read_text() == "mine"
    assert {p.name for p in recording.traces} == {f"same.{n + 1}" for n in range(PROCESSES + 1)}
    assert len({t.pid for t in recording.traces.values()}) == PROCESSES + 1
    assert sorted(t.names() for t in recording.traces.values()) == (
        [["in_child"]] * PROCESSES + [["main"]])
    frontload("profile", *recording.traces, "-o", tmp_path / "app.startup")
    profile = (tmp_path / "app.startup").read_text().splitlines()
    assert "runs 1" in profile
    assert [line.split("\t")[-1] for line in profile[-2:]] == ["main", "in_child"]


@pytest.mark.parametrize("taken", [0, 1, 2, 3, 1000, 10000])
def test_thousands_of_the_same_name(cc, run_with, traces, taken):
    """Where thousands of traces have the name already, the next one gets the first free number."""
    for n in range(taken):
        (traces / f"same.{n}" if n else traces / "same").touch()
    run_with(traces / "same", cc("int main(void) { return 0; }"))
    made = decode(traces / (f"same.{taken}" if taken else "same"))
    assert made.names() == ["main"]
