/* A file that is opened when the program starts and used when it is ready: by then the program may
 * have given up what it needs to open it.
 *
 * The program may also have closed the descriptor, as some close all, and have another file there.
 */
#ifndef FRONTLOAD_KEPT_FILE_H
#define FRONTLOAD_KEPT_FILE_H

#include "base/system_calls.h"

#include <errno.h>

struct kept_file {
  int fd; /* negative: none */
  dev_t device;
  ino_t inode;
};

/* Out of the way of programs that expect their first file to be descriptor 3. */
enum { LOWEST_DESCRIPTOR = 200 };

static inline int move_descriptor(int fd) {
  if (fd < 0)
    return fd;
  const int moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR);
  sys_close(fd);
  return moved;
}

static inline void keep_open(struct kept_file *file, const char *path) {
  struct stat status;
  file->fd = move_descriptor(sys_open(path, O_RDONLY | O_CLOEXEC, 0));
  if (file->fd >= 0 && sys_fstat(file->fd, &status) == 0) {
    file->device = status.st_dev;
    file->inode = status.st_ino;
  }
}

/* 0 if it is there still, -EBADF if not, or another errno if we may not ask. */
static inline int look_for_kept(const struct kept_file *file) {
  struct stat status;
  const int error = file->fd < 0 ? -EBADF : sys_fstat(file->fd, &status);
  if (error)
    return error;
  return status.st_dev == file->device && status.st_ino == file->inode ? 0 : -EBADF;
}

static inline void close_kept(struct kept_file *file) {
  if (look_for_kept(file) == 0)
    sys_close(file->fd);
  file->fd = -1;
}

#endif
