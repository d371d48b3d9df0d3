"""Programs that use ptrace themselves: they do what they do without us."""

import subprocess

import pytest
from abilities import needs
from traced import Binary

# A process has one tracer, so what would trace is let go. Threads must be gone by then, too.
LEAKS = r"""
    static pthread_barrier_t all_wait;
    static void *waits(void *unused) {
      pthread_barrier_wait(&all_wait);
      for (;;) pause();
      return unused;
    }
    __attribute__((noinline)) void *volatile make(void) { return malloc(100); }
    __attribute__((noinline)) void drop(int leaks, void *volatile p) { if (!leaks) free(p); }
    int main(int count, char **arguments) {
      (void)arguments;
      pthread_t threads[4];
      pthread_barrier_init(&all_wait, 0, 5);
      for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, waits, 0);
      pthread_barrier_wait(&all_wait);
      drop(count > 1, make());
      return 3;
    }"""


@needs("sanitizers")
@pytest.mark.parametrize("leaks", [[], ["leaks"]])
@pytest.mark.parametrize(("cc", "flags"), [
    ("gcc", ["-fsanitize=address"]), ("gcc", ["-fsanitize=leak"]),
    ("gcc", ["-fsanitize=address", "-static-libasan"]),
    ("clang", ["-fsanitize=address"]), ("clang", ["-fsanitize=leak"])])
def test_leak_sanitizer(cc, flags, leaks, compile, record, llvm):
    """LeakSanitizer, which looks at the program's threads, finds what it would find."""
    program = compile(LEAKS, "-O0", "-pthread", *flags, cc=llvm / cc if cc == "clang" else cc,
                      name="leaks")
    alone = subprocess.run([program, *leaks], capture_output=True, text=True)
    recording = record("--", program, *leaks)
    assert recording.status == alone.returncode
    assert ("detected memory leaks" in recording.stderr) == ("detected" in alone.stderr)
    names = Binary(program).named(recording.of(program)[0].addresses())
    assert {"main", "waits", "make", "drop"} <= set(names)


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
    assert recording.status == 5
    assert not recording.of(debugged)


def test_attached_while_it_is_recorded(compile, record):
    """A crash handler gets the recorded process, which goes on without a breakpoint."""
    handler = compile(r"""
        int main(int count, char **arguments) {
          pid_t parent = count == 2 ? atoi(arguments[1]) : 0;
          if (ptrace(PTRACE_ATTACH, parent, 0, 0)) return 7;
          waitpid(parent, 0, __WALL);
          return ptrace(PTRACE_DETACH, parent, 0, 0) ? 6 : 4;
        }""", "-s", name="handler")
    program = compile(r"""
        STEP(before) STEP(later)
        int main(int count, char **arguments) {
          char own[20], *handler[] = {arguments[count - 1], own, 0};
          int status;
          pid_t child;
          before();
          snprintf(own, sizeof own, "%d", getpid());
          if (posix_spawn(&child, handler[0], 0, 0, handler, 0)) return 9;
          while (waitpid(child, &status, 0) != child) ;
          later();
          return WEXITSTATUS(status);
        }""", "-O1", name="crashes")
    recording = record("--", program, handler)
    assert recording.status == 4
    names = Binary(program).named(recording.of(program)[0].addresses())
    assert "before" in names and "later" not in names


def test_program_with_a_crash_handler(compile, record):
    """A program with symbols that can call ptrace is recorded; what fails is said beforehand."""
    program = compile(TRACES, name="large")
    recording = record("--", program, "/bin/true")
    assert f"note: {program}: can call ptrace, as a debugger or a crash handler does: that fails " \
           "on processes that are recorded\n" in recording.stderr
