/* A program that touches nothing of its front: it says in which state it is started, and waits.
 *
 * It prints errno and which descriptors are open, and ends at the end of its standard input. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int error = errno;
  printf("errno %d, open", error);
  for (int fd = 0; fd < 100; ++fd)
    if (lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF)
      printf(" %d", fd);
  printf("\n");
  fflush(stdout);
  while (getchar() != EOF)
    ;
  return 7;
}
