/* Asks the kernel whether it executes a file: another process tries it, and is ended before its
 * first instruction. See refused_exec.h.
 *
 * This uses nothing of Valgrind: the processes that it makes have nothing to do with the program.
 */
#include "refused_exec.h"

#include "base/elf_start.h"
#include "base/machine.h"
#include "base/system_calls.h"
#include "base/text.h"

#include <errno.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { MAY_EXECUTE = 1, SCRIPT_HEAD = 255 };

/* Whether a path leads to a pipe or a device, where opening may wait for ever. */
static bool is_irregular(const char *path) {
  struct stat status;
  return sys_stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* 0, or a negative errno. */
static int may_execute(const char *path) {
  return (int)system_call(SYS_faccessat, AT_FDCWD, (long)path, MAY_EXECUTE, 0, 0, 0);
}

/* The first bytes of a file that we may execute. The result is that of elf_start_read(). */
static int read_start(const char *path, struct elf_start *start) {
  const int problem = may_execute(path);
  if (problem < 0)
    return problem;
  const int file = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (file < 0)
    return file;
  const int result = elf_start_read(file, start);
  sys_close(file);
  return result;
}

static bool is_of_this_machine(const struct elf_start *start) {
  Elf64_Ehdr header;
  copy_bytes((unsigned char *)&header, start->bytes, sizeof header);
  return header.e_machine == FRONTLOAD_MACHINE && start->segments > 0 &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

/* The loader that a program names; an empty path if it names none. False if it is not to be found
 * in the first bytes. */
static bool find_loader(const struct elf_start *start, char path[PATH_MAX]) {
  path[0] = '\0';
  for (unsigned i = 0; i < start->segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(start, i, &segment);
    if (segment.p_type != PT_INTERP)
      continue;
    if (segment.p_offset > start->size || segment.p_filesz > start->size - segment.p_offset ||
        segment.p_filesz < 2 || segment.p_filesz > PATH_MAX ||
        start->bytes[segment.p_offset + segment.p_filesz - 1] != '\0')
      return false;
    copy_bytes((unsigned char *)path, start->bytes + segment.p_offset, segment.p_filesz);
    return true;
  }
  return true;
}

/* The interpreter of a script. False if there is any doubt, or it is no script. */
static bool find_interpreter(const struct elf_start *start, char path[PATH_MAX]) {
  size_t at = 2;
  struct text text = text_in(path, PATH_MAX);
  if (start->size < at || start->bytes[0] != '#' || start->bytes[1] != '!')
    return false;
  for (; at < start->size && (start->bytes[at] == ' ' || start->bytes[at] == '\t'); ++at)
    ;
  for (; at < start->size && at < SCRIPT_HEAD; ++at) {
    const char c = (char)start->bytes[at];
    if (c == ' ' || c == '\t' || c == '\n')
      return text.size > 0;
    text_add_char(&text, c);
  }
  return false;
}

enum verdict { PLAIN, UNCLEAR, IRREGULAR };

/* PLAIN for nearly all files: a program of this machine whose loader exists, a script for one, or a
 * file that cannot be executed anyway. */
static enum verdict judge(const char *path) {
  struct elf_start start;
  char next[PATH_MAX];
  if (is_irregular(path))
    return IRREGULAR;
  /* The core reports this as well. A shell that goes through PATH tries many such files. */
  if (may_execute(path) < 0)
    return PLAIN;
  int result = read_start(path, &start);
  if (result == -ENODATA && find_interpreter(&start, next)) {
    if (is_irregular(next))
      return IRREGULAR;
    result = read_start(next, &start);
  }
  if (result != 0 || !is_of_this_machine(&start) || !find_loader(&start, next))
    return UNCLEAR;
  if (next[0] && is_irregular(next))
    return IRREGULAR;
  return !next[0] || (read_start(next, &start) == 0 && is_of_this_machine(&start)) ? PLAIN
                                                                                   : UNCLEAR;
}

__attribute__((noreturn)) static void end(int status) {
  for (;;)
    system_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* If nothing would stop the program before it runs, it is not tried: the status is 0. */
__attribute__((noreturn)) static void try(const char *path) {
  const char *const words[] = {path, NULL}, *const no_environment[] = {NULL};
  system_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
  if (system_call(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0, 0, 0) < 0)
    end(0);
  /* SIGTRAP stops the process, and Valgrind may have blocked it. */
  signal_set stop = SIGNAL_BIT(SIGTRAP);
  if (system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&stop, 0, sizeof stop, 0, 0) < 0)
    end(0);
  end(-(int)system_call(SYS_execve, (long)path, (long)words, (long)no_environment, 0, 0, 0));
}

static long fork_with(int signal) { return system_call(SYS_clone, signal, 0, 0, 0, 0, 0); }

static int wait_for(long process) {
  int status = 0;
  long result;
  do
    result = system_call(SYS_wait4, process, (long)&status, __WALL, 0, 0, 0);
  while (result == -EINTR);
  return result == process ? status : 0;
}

/* Ends with the errno of the exec, or 0. */
__attribute__((noreturn)) static void watch_a_try(const char *path) {
  /* If SIGCHLD were ignored, as the program may have it, there would be nothing to wait for. */
  uintptr_t by_default[4] = {0}; /* struct kernel_sigaction */
  system_call(SYS_rt_sigaction, SIGCHLD, (long)by_default, 0, sizeof(signal_set), 0, 0);
  const long tries = fork_with(SIGCHLD);
  if (tries == 0)
    try(path);
  if (tries < 0)
    end(0);
  const int status = wait_for(tries);
  if (WIFSTOPPED(status)) {
    system_call(SYS_kill, tries, SIGKILL, 0, 0, 0, 0);
    wait_for(tries);
  }
  end(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

int refused_exec(const char *path, bool may_make_processes) {
  const enum verdict verdict = judge(path);
  if (verdict == IRREGULAR)
    return EACCES;
  if (verdict == PLAIN || !may_make_processes)
    return 0;
  /* The program must not get a child that it does not know, nor a signal of its end. A process that
   * executes another program sends SIGCHLD to its parent, so that parent is not this process. */
  const long watches = fork_with(0);
  if (watches == 0)
    watch_a_try(path);
  const int status = watches < 0 ? 0 : wait_for(watches);
  const int error = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  /* A traced process may lack a permission that the program has. */
  return error == EPERM || error == EACCES ? 0 : error;
}
