/* needs chroot. A server that gives up its rights, in an empty folder which is its root.

   exit 0
   process: main before after */
#include <sys/stat.h>
#include <unistd.h>

static void before(void) {}

static void after(void) {}

int main(void) {
  before();
  mkdir("empty", 0755);
  if (chroot("empty") || chdir("/") || setgid(65534) || setuid(65534))
    return 1;
  after();
  return 0;
}
