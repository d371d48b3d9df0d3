/* What was touched before a process is killed is in its trace.

   exit 137
   process: main before */
#include <signal.h>
#include <unistd.h>

static void before(void) {}

void after(void) {}

int main(void) {
  before();
  kill(getpid(), SIGKILL);
  after();
  return 0;
}
