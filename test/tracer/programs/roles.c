/* Has several kinds of process, as a browser: forks one, executes one with a role of its own in its
 * environment, and one without any environment. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline, noclone)) static void my_leaf(void) { __asm__ volatile(""); }
__attribute__((noinline, noclone)) static void my_worker(void) { __asm__ volatile(""); }

static void execute(char *self, const char *role) {
  if (fork() == 0) {
    if (role)
      setenv("FRONTLOAD_ROLE", role, 1);
    else
      clearenv();
    execl(self, self, "leaf", NULL);
    _exit(1);
  }
  wait(NULL);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "leaf")) {
    my_leaf();
    return 0;
  }
  if (fork() == 0) {
    my_worker();
    _exit(0);
  }
  wait(NULL);
  execute(argv[0], argc > 1 ? argv[1] : "renderer");
  execute(argv[0], NULL);
  return 0;
}
