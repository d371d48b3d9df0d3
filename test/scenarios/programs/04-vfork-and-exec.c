/* What a process has touched before it executes another program stays.

   exit 0
   process: main before after
   process: main in_second_program
   process: main in_second_program

   By valgrind:
   forked: main
   process: main before after
   process: main in_second_program
   process: main in_second_program */
#include <sys/wait.h>
#include <unistd.h>

static void before(void) {}

static void after(void) {}

static void in_second_program(void) {}

int main(int argc, char **argv) {
  if (argc > 1) {
    in_second_program();
    return 0;
  }
  before();
  if (vfork() == 0) {
    execl(argv[0], argv[0], "second", (char *)0);
    _exit(1);
  }
  wait(0);
  after();
  execl(argv[0], argv[0], "third", (char *)0);
  return 1;
}
