"""The role of a process: FRONTLOAD_ROLE, and frontload_set_role()."""

import os

import pytest
from runtime_trace import decode

NO_ROLE = ("not a role, which is 1 to 31 printable ASCII characters without spaces")
CHILDREN = """
#include <frontload.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
KEPT void leaf(void) {}
KEPT void worker(void) {}
int main(int argc, char **argv) {
  if (argc > 1) {
    leaf();
    return 0;
  }
  if (fork() == 0) {
    worker();
    _exit(0);
  }
  wait(0);
  if (fork() == 0) {
    setenv("FRONTLOAD_ROLE", "renderer", 1);
    execl(argv[0], argv[0], "leaf", (char *)0);
  }
  wait(0);
  return 0;
}
"""


def roles(recording) -> list[tuple[str, ...]]:
    return sorted((trace.role, *trace.names()) for trace in recording.traces.values())


def test_role_of_the_environment(cc, record):
    """A trace has the role that its program was started with, and so has that of a forked child;
    a child that executes with another one has that."""
    recording = record(cc(CHILDREN), environment={"FRONTLOAD_ROLE": "browser"})
    assert roles(recording) == [
        ("browser", "main"), ("browser", "worker"), ("renderer", "main", "leaf")]


@pytest.mark.parametrize("environment", [{}, {"FRONTLOAD_ROLE": ""}], ids=["unset", "empty"])
def test_no_role(cc, record, environment):
    """Without a role the trace has none."""
    recording = record(cc("int main(void) { return 0; }"), environment=environment)
    assert recording.only.role == ""


@pytest.mark.parametrize("role", ["r", "x" * 31, "gpu-process", "!~%p"])
def test_good_roles(cc, record, role):
    """A role may have up to 31 characters, and none means anything."""
    recording = record(cc("int main(void) { return 0; }"), environment={"FRONTLOAD_ROLE": role})
    assert recording.only.role == role


@pytest.mark.parametrize("bad", ["two words", "a\nb", "x" * 32, "é", "\x7f", " "])
def test_bad_role(cc, record, bad):
    """What cannot be a role is told, not shown, and the program runs unrecorded."""
    recording = record(cc("int main(void) { return 0; }"), environment={"FRONTLOAD_ROLE": bad})
    assert recording.traces == {}
    assert recording.result.stderr == (f"frontload-rt: warning: FRONTLOAD_ROLE: {NO_ROLE} "
                                       "(the program runs unrecorded)\n")


def test_zygote(cc, record):
    """A process that is forked and executes nothing says its role itself, before its first touch or
    after; its parent keeps its own, and what it forks has the new one."""
    recording = record(cc("""
        #include <frontload.h>
        #include <sys/wait.h>
        #include <unistd.h>
        KEPT void tab(void) {}
        KEPT void gpu(void) {}
        KEPT void helper(void) {}
        NOT_RECORDED int main(void) {
          frontload_set_role("zygote-of-all-of-the-processes");
          if (fork() == 0) {
            frontload_set_role("tab");
            tab();
            if (fork() == 0) {
              helper();
              _exit(0);
            }
            wait(0);
            _exit(0);
          }
          wait(0);
          if (fork() == 0) {
            gpu();
            frontload_set_role("gpu");
            _exit(0);
          }
          wait(0);
          helper();
          return 0;
        }"""))
    assert roles(recording) == [
        ("gpu", "gpu"), ("tab", "helper"), ("tab", "tab"),
        ("zygote-of-all-of-the-processes", "helper")]


def test_child_of_vfork(cc, record):
    """A child of vfork runs in its parent's memory, and does not say what the parent is."""
    recording = record(cc("""
        #define _GNU_SOURCE
        #include <frontload.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
          if (vfork() == 0) {
            frontload_set_role("child");
            _exit(0);
          }
          wait(0);
          return 0;
        }"""), environment={"FRONTLOAD_ROLE": "parent"})
    assert roles(recording) == [("parent", "main")]


SETS_BAD_ROLE = """
#include <frontload.h>
int main(void) {
  frontload_set_role("good");
  frontload_set_role("");
  return 0;
}
"""


def test_program_sets_bad_role(cc, record):
    """A program that says nonsense is told so, and its role stays."""
    recording = record(cc(SETS_BAD_ROLE))
    assert recording.only.role == "good"
    assert recording.result.stderr == (f"frontload-rt: warning: frontload_set_role: {NO_ROLE} "
                                       "(the role stays as it was)\n")


def test_unrecorded_program_sets_role(cc, run, traces):
    """Without a trace, or after recording has ended, nothing happens."""
    assert run(cc(SETS_BAD_ROLE), cwd=traces).stderr == ""
    ended = cc("""
        #include <frontload.h>
        int main(void) {
          frontload_startup_done();
          frontload_set_role("late");
          return 0;
        }""", name="ended")
    result = run(ended, env={**os.environ, "FRONTLOAD_TRACE": f"{traces}/t"})
    assert (result.stderr, decode(traces / "t").role) == ("", "")
