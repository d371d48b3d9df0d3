/* Asks for a list within the limits of memory, in a process of its own. See reading_list.h. */
#include "base/memory_limit.h"
#include "base/system_calls.h"
#include "base/text.h"
#include "reading_list.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* The most bytes that a list may ask for. */
static const uint64_t MAX_BYTES = 512 << 20;

/* A list gets one part in two of the memory that limits leave, as a front does (front.c). */
enum { MEMORY_SHARE = 2 };

/* Whether some task waited for memory in at least a tenth of the last ten seconds, by the kernel's
 * "some avg10=12.34 ..." (Documentation/accounting/psi.rst). False without that file. */
static bool memory_is_short(void) {
  static const unsigned char start[] = "some avg10=";
  const size_t size = sizeof start - 1;
  unsigned char text[sizeof start + 2]; /* with the first digits */
  int fd = sys_open("/proc/pressure/memory", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  const long read = sys_read(fd, text, size + 2);
  sys_close(fd);
  /* 10 and more have two digits before the point. */
  return read == (long)size + 2 && same_bytes(text, start, size) && text[size + 1] != '.';
}

void reading_list_ask_within_limits(const char *path, const struct device_kind *device,
                                    bool may_count,
                                    void (*describe)(int error, const struct asked *)) {
  struct asked asked;
  const uint64_t left =
      memory_left(PROCESS_CGROUPS, CGROUP_MOUNT, MEMORY_SHARE * MAX_BYTES) / MEMORY_SHARE;
  const uint64_t budget = memory_is_short() ? 0 : left;
  const int error =
      reading_list_ask(path, device, budget < MAX_BYTES ? budget : MAX_BYTES, may_count, &asked);
  if (describe)
    describe(error, &asked);
}

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

bool run_apart(const char *name, bool keeps_stderr, void (*work)(void *), void *argument) {
  if (adopts_orphans() || !orphans_are_reaped())
    return false;
  const long child = fork_without_signal();
  if (child == 0) {
    if (fork_without_signal() == 0) {
      let_go(!keeps_stderr);
      SYS(prctl, PR_SET_NAME, name);
      work(argument);
    }
    end_process();
  }
  /* The child ends at once. A signal may come in between. */
  while (child > 0 && SYS(wait4, child, 0, __WCLONE) == -EINTR)
    ;
  return true;
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

struct question {
  const char *path;
  const struct device_kind *device;
  void (*describe)(int error, const struct asked *);
};

static void ask_and_count(void *argument) {
  const struct question *question = argument;
  reading_list_ask_within_limits(question->path, question->device, true, question->describe);
}

void reading_list_ask_apart(const char *path, const struct device_kind *device,
                            void (*describe)(int error, const struct asked *)) {
  struct question question = {path, device, describe};
  if (!run_apart("frontload-list", describe != NULL, ask_and_count, &question))
    reading_list_ask_within_limits(path, device, false, describe);
}
