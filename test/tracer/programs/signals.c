/* Signals of all kinds. The first argument says which. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define STEP __attribute__((noinline)) void
#define WORK __asm__ volatile("")
#ifdef __x86_64__
#define BREAKPOINT "int3"
#else
#define BREAKPOINT "brk #0"
#endif

static volatile sig_atomic_t traps;

STEP from_handler(void) { WORK; }
STEP from_first_trap(void) { WORK; }
STEP from_second_trap(void) { WORK; }
STEP after(void) { WORK; }
STEP touched(void) { WORK; }

static void on_trap(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info, (void)context;
#ifdef __aarch64__ /* where the breakpoint instruction is not behind the thread when it stops */
  if (info->si_code == TRAP_BRKPT)
    ((ucontext_t *)context)->uc_mcontext.pc += 4;
#endif
  if (++traps == 1)
    from_first_trap();
  else
    from_second_trap();
}

/* A function that begins with the program's own breakpoint. */
__asm__(".text\n.globl own_breakpoint\n.type own_breakpoint,@function\n"
        "own_breakpoint: " BREAKPOINT "\nret\n.size own_breakpoint, . - own_breakpoint\n");
void own_breakpoint(void);

/* A breakpoint of its own, a SIGTRAP by raise, and breakpoints that are hit in between. */
static int do_trap(void) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  __asm__ volatile(BREAKPOINT);
  raise(SIGTRAP);
  __asm__ volatile(BREAKPOINT "\nnop");
  own_breakpoint();
  after();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  return traps == 4 && !sigismember(&mask, SIGTRAP) ? 0 : 5;
}

/* What a crash handler does: it dies of the signal that it has handled. */
static void on_last_trap(int number) {
  signal(number, SIG_DFL);
  from_handler();
  raise(number);
}

static int do_trap_that_kills(void) {
  signal(SIGTRAP, on_last_trap);
  raise(SIGTRAP);
  return 5;
}

static int do_raise(void) {
  raise(SIGTRAP);
  after();
  return 0;
}

static int do_breakpoint(void) {
  __asm__ volatile(BREAKPOINT);
  return 5;
}

/* Says that it is there, waits for a byte, goes on. */
static int do_wait(void) {
  char byte;
  puts("ready");
  fflush(stdout);
  if (read(0, &byte, 1) == 1)
    after();
  puts("gone on");
  return 0;
}

static const struct {
  const char *what;
  int (*run)(void);
} ways[] = {
    {"trap", do_trap},   {"trap-that-kills", do_trap_that_kills},
    {"raise", do_raise}, {"breakpoint", do_breakpoint},
    {"wait", do_wait},
};

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  touched();
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i)
    if (!strcmp(what, ways[i].what))
      return ways[i].run();
  if (!strcmp(what, "quick"))
    _exit(atoi(argv[2]));
  if (!strcmp(what, "die"))
    kill(getpid(), atoi(argv[2]));
  return 5;
}
