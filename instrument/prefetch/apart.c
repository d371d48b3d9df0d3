/* Runs work in a detached process. See apart.h. */
#include "apart.h"

#include "base/system_calls.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

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
  SYS(close_range, 3, -1L);
}

long start_apart(const char *name, bool keeps_stderr, void (*work)(void *), void *argument) {
  if (adopts_orphans() || !orphans_are_reaped())
    return 0;
  const long child = fork_without_signal();
  if (child == 0) {
    if (fork_without_signal() == 0) {
      let_go(!keeps_stderr);
      SYS(prctl, PR_SET_NAME, name);
      work(argument);
    }
    end_process();
  }
  return child;
}

void end_start_apart(long child) {
  /* The child ends at once. A signal may come in between. */
  while (child > 0 && SYS(wait4, child, 0, __WCLONE) == -EINTR)
    ;
}

bool run_apart(const char *name, bool keeps_stderr, void (*work)(void *), void *argument) {
  const long child = start_apart(name, keeps_stderr, work, argument);
  end_start_apart(child);
  return child != 0;
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
