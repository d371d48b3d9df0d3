/* Signals of all kinds. The first argument says which. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STEP __attribute__((noinline)) void
#define WORK __asm__ volatile("")

static volatile sig_atomic_t traps;

STEP from_handler(void) { WORK; }
STEP from_first_trap(void) { WORK; }
STEP from_second_trap(void) { WORK; }
STEP after(void) { WORK; }
STEP touched(void) { WORK; }

static void on_signal(int signal) {
  (void)signal;
  from_handler();
}

static void on_trap(int signal) {
  (void)signal;
  if (++traps == 1)
    from_first_trap();
  else
    from_second_trap();
}

static void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(signal, &action, NULL);
}

/* A function that begins with the program's own int3. */
__asm__(".text\n.globl own_breakpoint\n.type own_breakpoint,@function\n"
        "own_breakpoint: int3\nret\n.size own_breakpoint,2\n");
void own_breakpoint(void);

/* An int3 of its own, a SIGTRAP by raise, and breakpoints that are hit in between. */
static int do_trap(void) {
  handle(SIGTRAP, on_trap);
  __asm__ volatile("int3");
  raise(SIGTRAP);
  __asm__ volatile("int3; nop");
  own_breakpoint();
  after();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  return traps == 4 && !sigismember(&mask, SIGTRAP) ? 0 : 5;
}

static int do_ignored_trap(void) {
  signal(SIGTRAP, SIG_IGN);
  kill(getpid(), SIGTRAP);
  after();
  return 0;
}

static int do_handler(void) {
  handle(SIGUSR1, on_signal);
  errno = 77;
  kill(getpid(), SIGUSR1);
  after();
  return errno == 77 ? 0 : 5;
}

static char alternative[16384];

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  from_handler();
  _exit(info->si_addr == (void *)8 ? 6 : 5);
}

static int do_fault_handler(void) {
  stack_t stack = {.ss_sp = alternative, .ss_size = sizeof alternative};
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  *(volatile int *)8 = 0;
  return 5;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  touched();
  if (!strcmp(what, "trap"))
    return do_trap();
  if (!strcmp(what, "ignored-trap"))
    return do_ignored_trap();
  if (!strcmp(what, "handler"))
    return do_handler();
  if (!strcmp(what, "fault-handler"))
    return do_fault_handler();
  if (!strcmp(what, "int3"))
    __asm__ volatile("int3");
  if (!strcmp(what, "abort"))
    abort();
  if (!strcmp(what, "quick"))
    _exit(atoi(argv[2]));
  if (!strcmp(what, "die"))
    kill(getpid(), atoi(argv[2]));
  if (!strcmp(what, "wait")) {
    /* Says that it is there, waits for a byte, goes on. */
    char byte;
    puts("ready");
    fflush(stdout);
    if (read(0, &byte, 1) == 1)
      after();
    puts("gone on");
    return 0;
  }
  return 5;
}
