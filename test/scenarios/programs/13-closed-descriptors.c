/* A daemon's way: all descriptors are closed, and their numbers are taken again.

   exit 0
   process: main before after */
#include <fcntl.h>
#include <unistd.h>

static void before(void) {}

static void after(void) {}

int main(void) {
  before();
  for (int fd = 0; fd < 256; ++fd)
    close(fd);
  int own = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
  after();
  /* Nobody else has written into the program's file. */
  return own == 0 && lseek(own, 0, SEEK_END) == 0 ? 0 : 1;
}
