/* A handler's functions are touched like others, and errno stays as the program has it.

   exit 0
   process: main handler from_handler after */
#include <errno.h>
#include <signal.h>

static void from_handler(void) {}

static void handler(int number) {
  (void)number;
  from_handler();
}

static void after(void) {}

int main(void) {
  signal(SIGUSR1, handler);
  errno = 77;
  raise(SIGUSR1);
  after();
  return errno == 77 ? 0 : 1;
}
