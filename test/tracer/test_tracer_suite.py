"""The program among all that a test suite runs (--program), and how each of its runs ended."""

import pytest

ENDS = """
STEP(tested) STEP(in_child)
int main(int argc, char **argv) {
  tested();
  switch (*argv[1]) {
  case 'c': abort();
  case 'k': raise(SIGTERM);
  case 'f': if (!fork()) { in_child(); _exit(3); } return wait(NULL) < 0;
  case 'v': if (!vfork()) _exit(3); return wait(NULL) < 0;
  case 'm': execl(argv[0], argv[0], "bad", NULL);
  }
  return *argv[1] == 'b';
}
"""


@pytest.fixture
def program(compile):
    return compile(ENDS, name="app")


def suite(program, *words) -> tuple[str, ...]:
    return "--", "sh", "-c", "".join(f"{program} {word}\n" for word in words) + "true"


@pytest.mark.parametrize("is_path", [False, True])
def test_only_the_program_is_recorded(is_path, program, compile, record):
    """Others run, and are followed to the program, but have no trace."""
    other = compile("STEP(in_other) int main(int argc, char **argv) { in_other();"
                    " execv(argv[1], argv + 1); }", name="other")
    chosen = f"--program={program if is_path else 'app'}"
    recording = record(chosen, *suite(f"{other} {program}", "good", "good"))
    assert (recording.status, recording.stderr) == (0, "")
    assert [trace.main.path for trace in recording.traces] == [str(program)] * 2


def test_a_program_that_never_runs_is_named(program, record):
    recording = record("--program=none", *suite(program, "good"))
    assert recording.files == [] and "warning: --program=none: no process" in recording.stderr


@pytest.mark.parametrize(("word", "failed"), [
    ("good", [False]), ("bad", [True]), ("crash", [True]),
    ("killed", [False]),  # as servers are, after a good start
    ("fork", [False, True]), ("vfork", [False]), ("make", [False, True])])
def test_a_trace_tells_whether_its_process_failed(word, failed, program, record):
    """Each process for itself: not by its child's end, nor by that of what it executes."""
    recording = record("--program=app", *suite(program, word))
    assert sorted(trace.failed for trace in recording.of(program)) == failed
