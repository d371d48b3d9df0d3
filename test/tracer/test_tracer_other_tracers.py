"""Programs that use ptrace themselves: a process has one tracer."""

import subprocess

import pytest
from abilities import needs
from traced import Binary

LEAKS = """
    int main(int argc, char **argv) {
      (void)argv;
      void *volatile made = malloc(100);
      if (argc == 1) free(made);
      made = NULL;
      return 3;
    }"""
NOT_RECORDED = (": not recorded, nor what it starts: it traces processes, as a debugger or "
                "LeakSanitizer does, and a process has one tracer\n")


@needs("sanitizers")
@pytest.mark.parametrize("leaks", [[], ["leaks"]])
@pytest.mark.parametrize(("cc", "flags"), [
    ("gcc", ["-fsanitize=address"]), ("gcc", ["-fsanitize=leak"]),
    ("gcc", ["-fsanitize=address", "-static-libasan"]),
    ("clang", ["-fsanitize=address"]), ("clang", ["-fsanitize=leak"])])
def test_leak_sanitizer(cc, flags, leaks, compile, record, llvm):
    """A program with LeakSanitizer runs unrecorded, which is said, and finds what it would find."""
    program = compile(LEAKS, "-O0", *flags, cc=llvm / cc if cc == "clang" else cc, name="leaks")
    alone = subprocess.run([program, *leaks], capture_output=True, text=True)
    recording = record("--until=none", "--", "sh", "-c", f"{program} {' '.join(leaks)}; exit $?")
    assert recording.status == alone.returncode
    assert ("detected memory leaks" in recording.stderr) == ("detected" in alone.stderr)
    assert f"note: {program}{NOT_RECORDED}" in recording.stderr
    assert not recording.of(program)


TRACES = r"""
    int main(int count, char **arguments) {
      int status = 0, is_traced[2];
      char byte;
      if (pipe(is_traced)) return 6;
      pid_t child = fork();
      if (child == 0) {
        close(is_traced[1]);
        if (count == 2 && read(is_traced[0], &byte, 1)) _exit(10);
        if (count > 2 && ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(9);
        execv(arguments[1], arguments + 1);
        _exit(8);
      }
      if (count == 2 && ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACEEXEC)) return 7;
      close(is_traced[1]);
      while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, 0, 0);
      return WEXITSTATUS(status);
    }"""


@pytest.mark.parametrize("how", [[], ["traceme"]])
def test_debugger(how, compile, record):
    """A debugger gets the process that it asks for, and is not hindered itself."""
    debugged = compile("int main(void) { return 5; }", name="debugged")
    program = compile(TRACES, "-s", name="debugger")
    assert subprocess.run([program, debugged, *how]).returncode == 5
    recording = record("--", program, debugged, *how)
    assert (recording.status, recording.files) == (5, [])
    assert recording.stderr == f"frontload-trace: note: {program}{NOT_RECORDED}"


def test_program_with_a_crash_handler(compile, record):
    """A program with symbols that can call ptrace is recorded; what fails is said beforehand."""
    program = compile(TRACES, name="large")
    recording = record("--", program, "/bin/true")
    assert f"note: {program}: can call ptrace, as a debugger or a crash handler does: that fails " \
           "on processes that are recorded\n" in recording.stderr
    assert "main" in Binary(program).named(recording.of(program)[0].addresses())
