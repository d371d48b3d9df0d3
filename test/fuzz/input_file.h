// An input as a file in memory, for readers that take a descriptor or a path. It is one file, whose
// contents change: to make one for each input would take longer than most readers.
#ifndef FRONTLOAD_TEST_FUZZ_INPUT_FILE_H
#define FRONTLOAD_TEST_FUZZ_INPUT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/// A descriptor of a file with these contents, open until the next call.
static inline int inputFile(const uint8_t *data, size_t size) {
  static int fd = -1;
  if (fd < 0)
    fd = memfd_create("input", 0);
  if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
    abort();
  return fd;
}

/// The path of such a file.
static inline const char *inputPath(const uint8_t *data, size_t size) {
  static char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", inputFile(data, size));
  return path;
}

#endif
