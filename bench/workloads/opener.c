/* Requests a program's whole file, as programs without a front do, then starts it. The opener's own
 * time counts: it is part of the start.
 * usage: opener read|willneed PROGRAM ARGUMENT...
 *
 * read      reads the file from its beginning to its end, in order: the pre-read of Chrome
 * willneed  maps it and asks for all of it by MADV_WILLNEED; pages come while the program starts
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel cuts each piece to the readahead or to the device's largest request, whichever is
 * more. Large pieces make few requests; small ones then get the parts that were cut off. */
enum { LARGE = 1 << 20, SMALL = 128 << 10 };

static int read_whole(int file) {
  static char buffer[LARGE];
  ssize_t got;
  while ((got = read(file, buffer, sizeof buffer)) > 0)
    ;
  return got < 0;
}

static int want_whole(int file) {
  struct stat status;
  if (fstat(file, &status) || status.st_size == 0)
    return 1;
  size_t size = (size_t)status.st_size;
  char *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    return 1;
  for (size_t large = 0; large < size; large += LARGE) {
    size_t end = size - large < LARGE ? size : large + LARGE;
    if (madvise(mapped + large, end - large, MADV_WILLNEED))
      return 1;
    for (size_t small = large; small < end; small += SMALL)
      if (madvise(mapped + small, end - small < SMALL ? end - small : SMALL, MADV_WILLNEED))
        return 1;
  }
  return munmap(mapped, size);
}

int main(int argc, char **argv) {
  int reads = argc > 2 && strcmp(argv[1], "read") == 0;
  if (!reads && (argc <= 2 || strcmp(argv[1], "willneed") != 0)) {
    fputs("usage: opener read|willneed PROGRAM ARGUMENT...\n", stderr);
    return 2;
  }
  /* A start without the pre-read must not pass for one with it. */
  int file = open(argv[2], O_RDONLY | O_CLOEXEC);
  if (file < 0 || (reads ? read_whole(file) : want_whole(file))) {
    perror(argv[2]);
    return 2;
  }
  execv(argv[2], argv + 2);
  perror(argv[2]);
  return 2;
}
