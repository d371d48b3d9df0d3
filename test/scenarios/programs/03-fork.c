/* A child has a trace of its own, of what it touches; so has its child.

   exit 0
   forked: before in_child
   forked: in_grandchild
   process: main before after

   By trace:
   forked: in_child
   forked: in_grandchild
   process: main before after

   By valgrind:
   forked: main before in_child
   forked: main in_grandchild
   process: main before after */
#include <sys/wait.h>
#include <unistd.h>

static void before(void) {}

static void in_child(void) {}

static void in_grandchild(void) {}

static void after(void) {}

int main(void) {
  before();
  if (fork() == 0) {
    before();
    in_child();
    if (fork() == 0) {
      in_grandchild();
      _exit(0);
    }
    wait(0);
    _exit(0);
  }
  wait(0);
  after();
  return 0;
}
