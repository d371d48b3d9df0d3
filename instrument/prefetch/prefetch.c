/* frontload_prefetch(): the front of any file, for programs that open libraries themselves. */
#include "frontload_prefetch.h"

#include "base/system_calls.h"
#include "front.h"

__attribute__((visibility("default"))) int frontload_prefetch(const char *path) {
  /* A pipe or a terminal by that name must neither make us wait nor become ours. */
  int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0)
    return fd;
  struct front front;
  int error = prefetch_front(fd, &front);
  sys_close(fd);
  return error;
}
