"""Filters of system calls whose refusals arrive as SIGSYS, and signals that the host blocks."""

import platform

import pytest
from abilities import needs
from kernel_filter import EPERM, RT_SIGPROCMASK, filter_system_calls

# trap_open() has each opening of a file handed to handle(), which opens it after all.
TRAP = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <ucontext.h>
static volatile int handled;
#ifdef IN_LIBRARY
void in_handler(void);
#else
KEPT void in_handler(void) { ++handled; }
#endif
#ifndef SYS_open
#define SYS_open SYS_openat
#endif
#ifdef __x86_64__
#define REGISTER(context, x86, arm) (context)->uc_mcontext.gregs[x86]
#else
#define REGISTER(context, x86, arm) (context)->uc_mcontext.regs[arm]
#define REG_RDI 0
#define REG_RSI 0
#define REG_RDX 0
#define REG_R10 0
#define REG_RAX 0
#endif
KEPT void handle(int signal, siginfo_t *info, void *at) {
  ucontext_t *context = at;
  (void)signal;
  in_handler();
  long arguments[] = {AT_FDCWD, REGISTER(context, REG_RDI, 0), REGISTER(context, REG_RSI, 1),
                      REGISTER(context, REG_RDX, 2), REGISTER(context, REG_R10, 3)};
  long *first = arguments + (info->si_syscall == SYS_openat);
  long opened = syscall(SYS_openat, first[0], first[1], first[2], first[3], 0, 4711L);
  REGISTER(context, REG_RAX, 0) = opened < 0 ? -errno : opened;
}
NOT_RECORDED static void trap_open(int flags) {
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | flags};
  sigaction(SIGSYS, &action, 0);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4711, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    _exit(77);
}
KEPT void after(void) {}
"""


@pytest.mark.parametrize("flags, is_late", [("0", 0), ("SA_NODEFER", 0), ("0", 1)])
def test_trapped_open_of_the_trace(cc, record, flags, is_late):
    """The handler to which it is handed is called once; the runtime opens nothing in a handler."""
    program = cc(TRAP + """
        NOT_RECORDED int main(void) {
          trap_open(FLAGS);
          if (IS_LATE && open("/dev/null", O_RDONLY) < 0)
            return 6;
          after();
          int once = handled;
          in_handler();
          return once;
        }""", f"-DFLAGS={flags}", f"-DIS_LATE={is_late}")
    assert record(program, code=1 + is_late).only.names() == ["after", "in_handler"]


def test_blocked_faults_stay_blocked(cc, record):
    """SIGSEGV and its like, blocked and pending, do not arrive during a first touch."""
    program = cc("""
        static volatile int arrived;
        NOT_RECORDED void handler(int signal) { (void)signal; ++arrived; }
        KEPT void one(void) {}
        KEPT void two(void) {}
        NOT_RECORDED int main(void) {
          const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
          sigset_t blocked;
          sigemptyset(&blocked);
          for (int i = 0; i < 5; ++i) {
            signal(signals[i], handler);
            sigaddset(&blocked, signals[i]);
          }
          sigprocmask(SIG_BLOCK, &blocked, 0);
          for (int i = 0; i < 5; ++i)
            kill(getpid(), signals[i]);
          one();
          two();
          frontload_startup_done();
          if (arrived)
            return 1;
          sigprocmask(SIG_UNBLOCK, &blocked, 0);
          return arrived;
        }""")
    assert record(program, code=5).only.names() == ["one", "two"]


def test_all_signals_are_blocked(cc, record):
    """A program that blocks all signals, also those of its C library, is recorded as any other, in
    a thread that it begins, too, and they stay blocked."""
    program = cc("""
        NOT_RECORDED static uint64_t block_all(void) {
          const uint64_t all = ~UINT64_C(0);
          uint64_t before;
          syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
          return ~(before | 0x40100); /* SIGKILL, SIGSTOP */
        }
        KEPT void one(void) {}
        KEPT void two(void) {}
        NOT_RECORDED void *thread(void *nothing) {
          block_all();
          two();
          return block_all() ? &block_all : nothing;
        }
        NOT_RECORDED int main(void) {
          pthread_t id;
          void *result;
          block_all();
          one();
          if (block_all())
            return 1;
          pthread_create(&id, 0, thread, 0);
          pthread_join(id, &result);
          return result != 0;
        }""", "-pthread")
    assert record(program).only.names() == ["one", "two"]


def test_denied_signal_masks(cc, record, library):
    """A filter's refusal does not look like readable memory."""
    program = cc("KEPT void one(void) {} NOT_RECORDED int main(void) { one(); }",
                 runtime=[library, f"-Wl,-rpath,{library.parent}"])
    recording = record(program, preexec_fn=lambda: filter_system_calls(RT_SIGPROCMASK, EPERM))
    assert recording.only.names() == ["one"]


@needs("program:musl-gcc")
@pytest.mark.parametrize("known", [True, False])
def test_handler_during_dlopen_of_musl(cc, record, tmp_path, known):
    """Where libc's list of objects is locked, a handler's first touches do not wait for it."""
    compiler = "musl-gcc"
    library = cc("""
        void early(void) {}
        void in_handler(void) {}
        """, "-shared", "-fPIC", name="libhandler.so", compiler=compiler, runtime=[])
    other = cc("void from_other(void) {}", "-shared", "-fPIC", name="other.so", compiler=compiler,
               runtime=[])
    program = cc("#define IN_LIBRARY\n" + TRAP + """
        void early(void);
        int main(void) {
          if (KNOWN)
            early();
          after();
          trap_open(0);
          void *other = dlopen("./other.so", RTLD_NOW);
          if (!other) {
            fputs(dlerror(), stderr);
            return 1;
          }
          ((void (*)(void))dlsym(other, "from_other"))();
          return 0;
        }""", library, f"-Wl,-rpath,{tmp_path},--export-dynamic", f"-DKNOWN={known:d}",
        "-idirafter", "/usr/include", "-idirafter", f"/usr/include/{platform.machine()}-linux-gnu",
        compiler=compiler)
    trace = record(program, cwd=tmp_path).only
    early = ["early"] if known else []
    assert trace.names() == ["main", *early, "after", "handle", "in_handler", "from_other"]
    paths = [module.path for module in trace.modules.values()]
    assert paths == [str(program), str(library), str(other)]
