/* A program that touches nothing of its front: it prints in which state it is started, that is
 * errno and which descriptors are open, and ends at the end of its standard input. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  printf("errno %d, open", errno);
  for (int fd = 0; fd < 100; ++fd)
    if (lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF)
      printf(" %d", fd);
  printf("\n");
  fflush(stdout);
  while (getchar() != EOF)
    ;
  return 7;
}
