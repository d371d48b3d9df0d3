/* Watches a function by a hardware breakpoint, which changes nothing in the program: a breakpoint
 * written into the code would read its page. The load address is known only after exec, so ptrace
 * stops the program there until the breakpoint is set. */
#define _GNU_SOURCE
#include "ready.h"

#include "clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter = -1;

bool function_parse(const char *text, struct Function *function) {
  char *at, *end;
  function->address = strtoull(text, &at, 16);
  if (at == text || *at != '@')
    return false;
  function->entry = strtoull(at + 1, &end, 16);
  return end != at + 1 && !*end;
}

bool entered_enter(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0; }

/* The command's load bias. */
static bool find_bias(pid_t command, uint64_t entry, uint64_t *bias) {
  char path[64];
  Elf64_auxv_t vector[64];
  snprintf(path, sizeof path, "/proc/%d/auxv", command);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, vector, sizeof vector);
  if (fd >= 0)
    close(fd);
  for (ssize_t i = 0; i < size / (ssize_t)sizeof *vector; ++i)
    if (vector[i].a_type == AT_ENTRY) {
      *bias = vector[i].a_un.a_val - entry;
      return true;
    }
  if (size >= 0)
    errno = ENOEXEC;
  return false;
}

int64_t entered_begin(pid_t command, const struct Function *function) {
  int status;
  siginfo_t stopped;
  /* A command that has ended is left for the caller to reap. */
  if (waitid(P_PID, (id_t)command, &stopped, WEXITED | WSTOPPED | WNOWAIT) < 0)
    return -1;
  if (stopped.si_code == CLD_EXITED || stopped.si_code == CLD_KILLED ||
      stopped.si_code == CLD_DUMPED)
    return 0;
  int64_t held = now_ns();
  struct perf_event_attr event = {.type = PERF_TYPE_BREAKPOINT,
                                  .size = sizeof event,
                                  .bp_type = HW_BREAKPOINT_X,
                                  .bp_len = sizeof(long),
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1,
                                  .inherit = 1};
  uint64_t bias;
  if (waitpid(command, &status, 0) == command && find_bias(command, function->entry, &bias)) {
    event.bp_addr = function->address + bias;
    counter = (int)syscall(SYS_perf_event_open, &event, command, -1, -1, PERF_FLAG_FD_CLOEXEC);
  }
  if (counter < 0) {
    int error = errno;
    kill(command, SIGKILL);
    waitpid(command, &status, 0);
    errno = error;
    return -1;
  }
  ptrace(PTRACE_DETACH, command, NULL, NULL);
  return now_ns() - held;
}

bool was_entered(void) {
  uint64_t times = 0;
  return counter >= 0 && read(counter, &times, sizeof times) == sizeof times && times > 0;
}
