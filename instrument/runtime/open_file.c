/* Opens the file of a trace: a new one under a free name, or the same one again. */
#include "runtime.h"
#include "signals.h"

#include <errno.h>

/* Never returns 0, 1 or 2, even if these are closed: the program's output must not go into the
 * trace. (Another thread can write to the descriptor in the moment before it is moved away.) */
int frontload_open_file(const char *path, int flags) {
  if (!may_name_files())
    return -EAGAIN;
  int fd = sys_open(path, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || fd > 2)
    return fd;
  int moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
  sys_close(fd);
  return moved;
}

static int create(const char *path) { return frontload_open_file(path, O_CREAT | O_EXCL); }

static bool is_folder(const char *path) {
  const int fd = sys_open(path, O_DIRECTORY | O_PATH | O_CLOEXEC, 0);
  if (fd >= 0)
    sys_close(fd);
  return fd >= 0;
}

int frontload_create_file(struct text *path) {
  const size_t size = path->size;
  int fd = path->overflow ? -ENAMETOOLONG : create(path->start);
  if (fd == -EEXIST && is_folder(path->start))
    return -EISDIR;
  for (uint32_t suffix = 1; fd == -EEXIST && suffix <= FRONTLOAD_TRACE_MAX_SUFFIX; ++suffix) {
    text_cut(path, size);
    text_add_char(path, '.');
    text_add_number(path, suffix);
    fd = path->overflow ? -ENAMETOOLONG : create(path->start);
  }
  return fd;
}
