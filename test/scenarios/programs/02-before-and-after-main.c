/* What runs before main, and after it has returned.

   exit 3
   process: constructed main at_exit destroyed */
#include <stdlib.h>

__attribute__((constructor)) static void constructed(void) {}

__attribute__((destructor)) static void destroyed(void) {}

static void at_exit(void) {}

int main(void) {
  atexit(at_exit);
  return 3;
}
