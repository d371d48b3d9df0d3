/* Runs work in a detached process. See apart.h. */
#include "apart.h"

#include "base/system_calls.h"
#include "base/text.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE AUDIT_ARCH_RISCV64
#endif

static long fork_without_signal(void) { return SYS(clone, 0); }

/* Whether process 1 blocks, ignores or catches SIGCHLD, and so reaps orphans: its masks are three
 * lines of 16 digits. A process 1 that does none of these, as in a container, would keep zombies.
 */
static bool orphans_are_reaped(void) {
  static const unsigned char blocked[] = "SigBlk:\t";
  enum { NAME = sizeof blocked - 1, LINE = NAME + 16 + 1, SIZE = 4096 };
  enum { DIGIT = NAME + 15 - (SIGCHLD - 1) / 4, BIT = 1 << (SIGCHLD - 1) % 4 };
  unsigned char text[SIZE];
  const int fd = sys_open("/proc/1/status", O_RDONLY | O_CLOEXEC, 0);
  const long size = fd < 0 ? 0 : sys_read(fd, text, SIZE);
  if (fd >= 0)
    sys_close(fd);
  for (long at = 0; at + 3 * LINE <= size; ++at) {
    bool is_told = false;
    if (!same_bytes(text + at, blocked, NAME))
      continue;
    for (long line = at; line < at + 3 * LINE; line += LINE) { /* blocked, ignored, caught */
      const unsigned char digit = text[line + DIGIT];
      is_told |= ((digit <= '9' ? digit - '0' : digit - 'a' + 10) & BIT) != 0;
    }
    return is_told;
  }
  return false;
}

/* Whether orphans become our children. */
static bool adopts_orphans(void) {
  int reaps = 1;
  SYS(prctl, PR_GET_CHILD_SUBREAPER, &reaps);
  return reaps || sys_getpid() == 1;
}

__attribute__((noreturn)) static void end_process(void) {
  for (;;)
    SYS(exit_group, 0);
}

/* Readers of the program's output must not wait for this process. */
static void let_go(bool of_stderr) {
  int nothing = sys_open("/dev/null", O_RDWR | O_CLOEXEC, 0);
  for (int fd = 0; fd < 3; ++fd)
    if (fd != 2 || of_stderr)
      SYS(dup3, nothing, fd);
  if (SYS(close_range, 3, -1L) < 0) /* before Linux 5.9 */
    for (int fd = 3; fd < 1024; ++fd)
      sys_close(fd);
}

/* The work of one process. */
struct work {
  const char *name;
  bool keeps_stderr;
  void (*work)(void *);
  void *argument;
};

__attribute__((noreturn)) static void work_detached(void *argument) {
  const struct work *work = argument;
  let_go(!work->keeps_stderr);
  SYS(prctl, PR_SET_NAME, work->name);
  work->work(work->argument);
  end_process();
}

static long fork_for(const struct work *work) {
  const long child = fork_without_signal();
  if (child == 0) {
    if (fork_without_signal() == 0)
      work_detached((void *)work);
    end_process();
  }
  return child;
}

void end_start_beside(long child) {
  /* The child ends at once. A signal may come in between. */
  while (child > 0 && SYS(wait4, child, 0, __WCLONE) == -EINTR)
    ;
}

bool run_apart(const char *name, bool keeps_stderr, void (*work)(void *), void *argument) {
  const struct work all = {name, keeps_stderr, work, argument};
  if (adopts_orphans() || !orphans_are_reaped())
    return false;
  end_start_beside(fork_for(&all));
  return true;
}

/* A child that shares our memory, with a stack of its own. */
static long clone_beside(unsigned char *stack, size_t size, void (*work)(void *), void *argument) {
  const struct clone3_arguments arguments = {
      .flags = CLONE_VM, .stack = (uintptr_t)stack, .stack_size = size};
  return sys_clone3(&arguments, work, argument);
}

/* The child that makes the process. It also has the time to look whether there may be one. */
__attribute__((noreturn)) static void make_process(void *work) {
  static unsigned char stack[32 << 10] __attribute__((aligned(16)));
  if (orphans_are_reaped())
    clone_beside(stack, sizeof stack, work_detached, work);
  end_process();
}

long start_beside(const char *name, void (*work)(void *), void *argument) {
  /* The rest of .bss needs some of these two pages: if .bss had a page more, GNU ld would give the
   * data a page of its own in the file. */
  static unsigned char stack[(8 << 10) - 256] __attribute__((aligned(16)));
  static struct work all;
  if (adopts_orphans())
    return 0;
  all = (struct work){name, false, work, argument};
  const long child = clone_beside(stack, sizeof stack, make_process, &all);
  if (child > 0)
    return child;
  return orphans_are_reaped() ? fork_for(&all) : 0;
}

bool have_nothing_else(void) {
#define ALLOW(name)                                                                                \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                           \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  static const struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(pread64),
      ALLOW(readahead),
      ALLOW(ppoll),
      ALLOW(setpriority),
      ALLOW(exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
#undef ALLOW
  const struct sock_fprog program = {sizeof filter / sizeof *filter, (struct sock_filter *)filter};
  return SYS(prctl, PR_SET_NO_NEW_PRIVS, 1) == 0 &&
         SYS(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool run_beside_process_1(const char *name, bool keeps_stderr, void (*work)(void *),
                          void *argument) {
  if (sys_getpid() != 1)
    return false;
  if (fork_without_signal() == 0) {
    let_go(!keeps_stderr);
    SYS(prctl, PR_SET_NAME, name);
    work(argument);
    for (;;)
      SYS(ppoll, NULL);
  }
  return true;
}
