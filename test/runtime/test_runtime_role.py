"""The role of a process: FRONTLOAD_ROLE, and frontload_set_role()."""

import pytest
from instrumented import TRACER

NO_ROLE = ("not a role, which is 1 to 31 printable ASCII characters without spaces")


def roles(recording) -> list[tuple[str, ...]]:
    return sorted((trace.role, *trace.names()) for trace in recording.traces.values())


def test_role_of_the_environment(cc, record):
    """A trace has the role that its program was started with, also in forked children."""
    program = cc((TRACER / "programs/roles.c").read_text())
    own = [(role, *(name for name in names if name.startswith("my_"))) for role, *names in
           roles(record(program, environment={"FRONTLOAD_ROLE": "browser"}))]
    assert own == [("browser",), ("browser", "my_worker"), ("renderer", "my_leaf")]


@pytest.mark.parametrize("role", [None, "", "r", "x" * 31, "gpu-process", "!~%p"])
def test_good_roles(cc, record, role):
    """A role may have up to 31 characters, and none means anything; there may be none."""
    environment = {} if role is None else {"FRONTLOAD_ROLE": role}
    recording = record(cc("int main(void) { return 0; }"), environment=environment)
    assert recording.only.role == (role or "")


@pytest.mark.parametrize("bad", ["two words", "a\nb", "x" * 32, "é", "\x7f", " "])
def test_bad_role(cc, record, bad):
    """What cannot be a role is told, not shown, and the program runs unrecorded."""
    recording = record(cc("int main(void) { return 0; }"), environment={"FRONTLOAD_ROLE": bad})
    assert recording.traces == {}
    assert recording.result.stderr == (f"frontload-rt: warning: FRONTLOAD_ROLE: {NO_ROLE} "
                                       "(the program runs unrecorded)\n")


def test_zygote(cc, record):
    """A forked process says its role itself, before its first touch or after."""
    recording = record(cc("""
        KEPT void tab(void) {}
        KEPT void gpu(void) {}
        KEPT void helper(void) {}
        NOT_RECORDED int main(void) {
          frontload_set_role("zygote-of-all-of-the-processes");
          if (fork() == 0) {
            frontload_set_role("tab");
            tab();
            if (fork() == 0)
              helper();
          } else if (fork() == 0) {
            gpu();
            frontload_set_role("gpu");
          } else
            helper();
          while (wait(0) > 0) {}
          return 0;
        }"""))
    assert roles(recording) == [
        ("gpu", "gpu"), ("tab", "helper"), ("tab", "tab"),
        ("zygote-of-all-of-the-processes", "helper")]


def test_program_sets_bad_role(cc, record, run_with):
    """Nonsense is told, and the role stays. Where nothing is recorded, nothing happens."""
    program = cc("""
        int main(int argc, char **argv) {
          (void)argv;
          frontload_set_role("good");
          if (argc > 1)
            frontload_startup_done();
          frontload_set_role(argc > 1 ? "late" : "");
          return 0;
        }""")
    recording = record(program)
    assert recording.only.role == "good"
    assert recording.result.stderr == (f"frontload-rt: warning: frontload_set_role: {NO_ROLE} "
                                       "(the role stays as it was)\n")
    ended = record(program, "end")
    assert (ended.only.role, ended.result.stderr) == ("good", "")
    assert run_with(None, program).stderr == ""
