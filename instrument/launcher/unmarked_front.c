/* See unmarked_front.h. The read of a file's first page also reads some pages behind it, and marks
 * the second one. When the program touches that page, the kernel reads on behind all pages that are
 * in memory, if its readahead reaches that far (page_cache_async_ra() of mm/readahead.c). */
#include "unmarked_front.h"
#include "base/system_calls.h"

int prefetch_unmarked(const char *path, struct front *front) {
  const int fd = open_to_prefetch(path);
  if (fd < 0)
    return fd;
  const int error = prefetch_front(fd, front);
  unsigned char byte;
  /* A read by the same open file clears the mark. It reads nothing from the device: the pages that
   * follow are the front's. */
  if (!error && !front->was_resident)
    sys_pread(fd, &byte, sizeof byte, MIN_PAGE);
  sys_close(fd);
  return error;
}
