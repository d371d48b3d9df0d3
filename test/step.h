/* Runs a program one instruction at a time, from beside it, on x86-64 and on AArch64. For tests
 * that want to see each instruction, or to do something between any two. */
#ifndef FRONTLOAD_TEST_STEP_H
#define FRONTLOAD_TEST_STEP_H

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts a program, which has executed nothing yet. It does not outlive this process. */
static inline pid_t start_stopped(char **command, int *status) {
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(command[0], command);
    _exit(127);
  }
  waitpid(child, status, 0);
  ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
  return child;
}

static inline unsigned long program_counter(pid_t child) {
  struct user_regs_struct registers;
  struct iovec all = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &all);
#ifdef __x86_64__
  return registers.rip;
#else
  return registers.pc;
#endif
}

/* Goes on, with a signal or without (0), until the program stops again or ends. */
static inline int go_on(pid_t child, int how, int signal) {
  int status;
  ptrace(how, child, 0, signal);
  waitpid(child, &status, 0);
  return status;
}

#ifdef __x86_64__

/* Executes one instruction. */
static inline int step(pid_t child, int signal) { return go_on(child, PTRACE_SINGLESTEP, signal); }

#else

static inline unsigned read_code(pid_t child, unsigned long at) {
  return (unsigned)ptrace(PTRACE_PEEKTEXT, child, at, 0);
}

static inline void write_code(pid_t child, unsigned long at, unsigned code) {
  unsigned long next = (unsigned long)ptrace(PTRACE_PEEKTEXT, child, at, 0) >> 32 << 32;
  ptrace(PTRACE_POKETEXT, child, at, next | code);
}

static inline int is_exclusive(unsigned code, int is_load) {
  return (code & 0x3fc00000) == (is_load ? 0x08400000 : 0x08000000);
}

/* Where a conditional branch goes, or 0. */
static inline unsigned long branch_target(unsigned code, unsigned long at) {
  int is_branch = (code & 0xff000010) == 0x54000000 || (code & 0x7e000000) == 0x34000000;
  return is_branch ? at + (long)((int)(code << 8) >> 13) * 4 : 0;
}

/* A store that must follow an exclusive load without an interruption fails for ever if each
 * instruction is one. These few are run at once, to where they end or are left. */
static inline int step(pid_t child, int signal) {
  unsigned long ends[2] = {0, 0}, at = program_counter(child), last = at + 64;
  if (is_exclusive(read_code(child, at), 1))
    for (unsigned long next = at + 4; next < last && !ends[0]; next += 4) {
      unsigned code = read_code(child, next);
      if (is_exclusive(code, 0))
        ends[0] = next + 4;
      else if (branch_target(code, next))
        ends[1] = branch_target(code, next);
    }
  unsigned replaced[2];
  for (int i = 0; i < 2; ++i)
    if (ends[0] && ends[i]) {
      replaced[i] = read_code(child, ends[i]);
      write_code(child, ends[i], 0xd4200000); /* brk #0 */
    }
  int status = go_on(child, ends[0] ? PTRACE_CONT : PTRACE_SINGLESTEP, signal);
  for (int i = 1; i >= 0; --i)
    if (ends[0] && ends[i])
      write_code(child, ends[i], replaced[i]);
  return status;
}

#endif

#endif
