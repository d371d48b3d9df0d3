/* A handler that does not return.

   exit 0
   process: main handler deep after */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf place;

static void deep(void) { siglongjmp(place, 1); }

static void handler(int number) {
  (void)number;
  deep();
}

static void after(void) {}

int main(void) {
  signal(SIGSEGV, handler);
  if (sigsetjmp(place, 1) == 0)
    *(volatile int *)NULL = 1;
  after();
  return 0;
}
