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

#ifdef __x86_64__
#define PROGRAM_COUNTER rip
enum { PAST_BREAKPOINT = 1 };                                     /* where one stops */
static const unsigned long BREAKPOINT = 0xcc, INSTRUCTION = 0xff; /* as a mask */
#else
#define PROGRAM_COUNTER pc
enum { PAST_BREAKPOINT = 0 };
static const unsigned long BREAKPOINT = 0xd4200000, INSTRUCTION = 0xffffffff;
#endif

static inline unsigned long program_counter(pid_t child) {
  struct user_regs_struct registers;
  struct iovec all = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &all);
  return registers.PROGRAM_COUNTER;
}

static inline void move_back(pid_t child, unsigned long bytes) {
  struct user_regs_struct registers;
  struct iovec all = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &all);
  registers.PROGRAM_COUNTER -= bytes;
  ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &all);
}

/* Goes on, with a signal or without (0), until the program stops again or ends. */
static inline int go_on(pid_t child, int how, int signal) {
  int status;
  ptrace(how, child, 0, signal);
  waitpid(child, &status, 0);
  return status;
}

/* Goes on until one of two addresses (0: none), where it stops with SIGTRAP, or until it stops for
 * another reason. */
static inline int run_to(pid_t child, unsigned long one, unsigned long other, int signal) {
  unsigned long places[] = {one, other}, replaced[2];
  for (int i = 0; i < 2; ++i)
    if (places[i]) {
      replaced[i] = (unsigned long)ptrace(PTRACE_PEEKTEXT, child, places[i], 0);
      ptrace(PTRACE_POKETEXT, child, places[i], (replaced[i] & ~INSTRUCTION) | BREAKPOINT);
    }
  int status = go_on(child, PTRACE_CONT, signal);
  for (int i = 1; i >= 0; --i)
    if (places[i])
      ptrace(PTRACE_POKETEXT, child, places[i], replaced[i]);
  if (PAST_BREAKPOINT && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
    move_back(child, PAST_BREAKPOINT);
  return status;
}

#ifdef __x86_64__

/* Executes one instruction. */
static inline int step(pid_t child, int signal) { return go_on(child, PTRACE_SINGLESTEP, signal); }

#else

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
  unsigned long at = program_counter(child), last = at + 64, end = 0, exit = 0;
  if (is_exclusive((unsigned)ptrace(PTRACE_PEEKTEXT, child, at, 0), 1))
    for (unsigned long next = at + 4; next < last && !end; next += 4) {
      unsigned code = (unsigned)ptrace(PTRACE_PEEKTEXT, child, next, 0);
      if (is_exclusive(code, 0))
        end = next + 4;
      else if (branch_target(code, next))
        exit = branch_target(code, next);
    }
  return end ? run_to(child, end, exit, signal) : go_on(child, PTRACE_SINGLESTEP, signal);
}

#endif

#endif
