/* Calls frontload_prefetch() for each argument, prints what it returns, and whether it has changed
 * errno. */
#include <errno.h>
#include <frontload_prefetch.h>
#include <stdio.h>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    errno = -5;
    int result = frontload_prefetch(argv[i]);
    printf("%d%s\n", result, errno == -5 ? "" : " and errno has changed");
  }
  return 0;
}
