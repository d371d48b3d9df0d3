"""Programs with signal handlers: what a handler touches is recorded where it happens, and the
program finds errno, its registers and its own traps as without the recorder."""

import signal

import pytest
from recorded import Binary
from traced import PROGRAMS

HANDLERS = r"""
    #define _GNU_SOURCE
    #include <errno.h>
    #include <setjmp.h>
    #include <signal.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    #define DATA __attribute__((aligned(16))) volatile int
    #define FUNCTION __attribute__((noinline, aligned(16))) void
    DATA my_before[4], my_in_handler[4], my_in_jump[4], my_after[4];
    __attribute__((aligned(65536))) volatile int my_page[65536 / sizeof(int)];
    static sigjmp_buf way_out;
    FUNCTION my_handler(int number) {
      (void)number;
      my_in_handler[0] = errno; /* 77, which the interrupted code has set */
      errno = 5;
      errno = 77;
    }
    FUNCTION my_jump(int number) {
      (void)number;
      my_in_jump[0] = 1;
      siglongjmp(way_out, 1);
    }
    FUNCTION my_fault(int number, siginfo_t *info, void *context) {
      (void)number, (void)context;
      if (info->si_addr == (void *)&my_page[16])
        mprotect((void *)my_page, sizeof my_page, PROT_READ | PROT_WRITE);
    }
    static void handle(int number, void (*handler)(int), int flags) {
      struct sigaction action;
      memset(&action, 0, sizeof action);
      action.sa_handler = handler;
      action.sa_flags = flags;
      sigaction(number, &action, NULL);
    }
    int main(void) {
      static char stack[65536];
      stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
      sigaltstack(&other, NULL);
      handle(SIGUSR1, my_handler, SA_ONSTACK);
      handle(SIGUSR2, my_jump, SA_ONSTACK);
      handle(SIGSEGV, (void (*)(int))my_fault, SA_SIGINFO);
      errno = 77;
      my_before[0] = 1;
      kill(getpid(), SIGUSR1);
      if (errno != 77 || my_in_handler[0] != 77)
        return 1;
      if (!sigsetjmp(way_out, 1))
        kill(getpid(), SIGUSR2);
      if (mprotect((void *)my_page, sizeof my_page, PROT_NONE))
        return 2;
      my_page[16] = 3;
      my_after[0] = 1;
      return errno == 77 && my_page[16] == 3 ? 7 : 4;
    }"""


def test_handlers(compile, record):
    """The touches of handlers come in their order among the program's: of one that returns, one
    that jumps out, and one that mends a fault. The touch that faults counts once. errno is that of
    the program."""
    program = compile(HANDLERS)
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (7, "")
    assert Binary(program).touches(recording.trace) == [
        "main", "my_before+0", "my_handler", "my_in_handler+0", "my_jump", "my_in_jump+0",
        "my_page+64", "my_fault", "my_after+0"]


@pytest.mark.parametrize(("how", "status", "functions"), [
    ("trap", 0, ["from_first_trap", "from_second_trap", "own_breakpoint", "after"]),
    ("ignored-trap", 0, ["after"]),
    ("ignored-trap-later", 0, ["after", "from_handler"]),
    ("trap-that-kills", -signal.SIGTRAP, ["from_handler"]),
    ("raise", -signal.SIGTRAP, []),
    ("fault-handler", 6, ["from_handler"])])
def test_signals_of_its_own(how, status, functions, compile, record):
    """A program's own breakpoints and SIGTRAP are its own, and so are its faults."""
    program = compile((PROGRAMS / "signals.c").read_text())
    recording = record("--", program, how)
    assert (recording.status, recording.stderr) == (status, "")
    addresses = {address: name for name, (address, _, is_function)
                 in Binary(program).symbols.items() if is_function}
    entered = [addresses[a] for a in recording.trace.addresses() if a in addresses]
    known = {"touched", "after", "from_handler", "from_first_trap", "from_second_trap",
             "own_breakpoint"}
    assert [name for name in entered if name in known] == ["touched", *functions]


@pytest.mark.parametrize(("fault", "status"), [
    ("__builtin_trap();", -signal.SIGILL), ("*(volatile int *)8 = 0;", -signal.SIGSEGV)])
def test_a_fault_that_ends_the_program(fault, status, compile, record):
    """Valgrind says so and where, without what is on the stack, which may be a secret."""
    program = compile(f"""
        __attribute__((noinline)) static void fail(void) {{ {fault} }}
        int main(void) {{
          volatile long secrets[64];
          for (int i = 0; i < 64; ++i)
            secrets[i] = 0x5ec2e75ec2e7;
          fail();
          return secrets[0] != 0;
        }}""")
    recording = record("--", program, env={"SECRET": "abcdefgh" * 100})
    assert recording.status == status
    assert "main" in Binary(program).touches(recording.trace)
    assert " at 0x" in recording.stderr and " by 0x" not in recording.stderr
    assert "5EC2E7" not in recording.stderr


def test_what_valgrind_cannot_do(compile, record):
    """It ends the program and says where each thread is, without what is on their stacks."""
    program = compile("""
        #define _GNU_SOURCE
        #include <sched.h>
        #include <signal.h>
        static int body(void *unused) { return unused != 0; }
        int main(void) {
          static char stack[65536] __attribute__((aligned(16)));
          volatile long secrets[64];
          for (int i = 0; i < 64; ++i)
            secrets[i] = 0x5ec2e75ec2e7;
          return clone(body, stack + sizeof stack, CLONE_VM | SIGCHLD, 0) < 0 || !secrets[0];
        }""")
    recording = record("--", program, env={"SECRET": "abcdefgh" * 100})
    assert recording.status == 1
    assert "Unsupported clone() flags" in recording.stderr
    assert " at 0x" in recording.stderr and " by 0x" not in recording.stderr
    assert "5EC2E7" not in recording.stderr
