/* Opens the file of a trace: a new one under a free name, or the same one again. */
#include "base/free_suffix.h"
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

/* Looks for a file of any kind with this name, with further flags: 0 or a negative errno. */
static int look_for(const char *path, int flags) {
  const int fd = sys_open(path, flags | O_PATH | O_CLOEXEC, 0);
  if (fd < 0)
    return fd;
  sys_close(fd);
  return 0;
}

int frontload_create_file(struct text *path) {
  const size_t size = path->size;
  int fd = path->overflow ? -ENAMETOOLONG : create(path->start);
  if (fd != -EEXIST)
    return fd;
  if (look_for(path->start, O_DIRECTORY) == 0)
    return -EISDIR;
  struct free_suffix search = FREE_SUFFIX;
  for (uint32_t suffix; (suffix = free_suffix_next(&search)) != 0;) {
    text_cut(path, size);
    text_add_char(path, '.');
    text_add_number(path, suffix);
    if (path->overflow)
      return -ENAMETOOLONG;
    bool is_taken;
    if (free_suffix_is_wanted(&search, suffix)) {
      fd = create(path->start);
      if (fd != -EEXIST)
        return fd;
      is_taken = true;
    } else {
      const int found = look_for(path->start, O_NOFOLLOW);
      if (found < 0 && found != -ENOENT)
        return found;
      is_taken = found == 0;
    }
    free_suffix_saw(&search, suffix, is_taken);
  }
  return -EEXIST;
}
