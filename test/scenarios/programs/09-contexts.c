/* Coroutines, with stacks of their own.

   exit 0
   process: main run first_half between second_half */
#include <ucontext.h>

static ucontext_t start, coroutine;

static void first_half(void) {}

static void second_half(void) {}

static void between(void) {}

static void run(void) {
  first_half();
  swapcontext(&coroutine, &start);
  second_half();
}

int main(void) {
  static char stack[64 << 10];
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = sizeof stack;
  coroutine.uc_link = &start;
  makecontext(&coroutine, run, 0);
  swapcontext(&start, &coroutine);
  between();
  swapcontext(&start, &coroutine);
  return 0;
}
