/* Finds out which pages of a file are resident. */
#include "base/system_calls.h"
#include "front.h"

#include <errno.h>

void begin_look(struct look *look, int fd) {
  look->fd = fd;
  look->mapping = NULL;
  look->cannot_map = look->cannot_read = false;
  look->blocks_read = sys_blocks_read();
}

void end_look(struct look *look) {
  if (look->mapping)
    sys_unmap(look->mapping, look->size);
  look->mapping = NULL;
}

/* Maps the whole file, if mincore(2) will answer truly: it tells everybody but the owner of a file
 * that all of it is resident. */
static void map(struct look *look) {
  struct stat status;
  look->cannot_map = true;
  if (sys_fstat(look->fd, &status) != 0 || status.st_uid != SYS(geteuid))
    return;
  look->size = (size_t)status.st_size;
  char *mapping = (char *)SYS(mmap, 0, look->size, PROT_READ, MAP_SHARED, look->fd);
  if (!is_error(mapping))
    look->mapping = mapping;
}

bool residency_of_range(struct look *look, uint64_t offset, uint64_t size, unsigned char *pages) {
  if (!look->cannot_map)
    map(look);
  return look->mapping && SYS(mincore, look->mapping + offset, size, pages) == 0;
}

/* If pages are larger than MIN_PAGE, mincore may refuse the address: RESIDENCY_UNTOLD. */
enum residency residency_left_alone(struct look *look, uint64_t offset) {
  unsigned char page;
  if (!residency_of_range(look, offset & -(uint64_t)MIN_PAGE, 1, &page))
    return RESIDENCY_UNTOLD;
  return page & 1 ? RESIDENT : NOT_RESIDENT;
}

bool look_has_read(const struct look *look) { return sys_blocks_read() != look->blocks_read; }

/* A read with RWF_NOWAIT fails if it would have to wait for the disk. Overlayfs and FUSE have no
 * such reads. mincore(2) and cachestat(2) answer only for the owner of a file. */
enum residency residency_of(struct look *look, uint64_t offset) {
  char byte;
  struct iovec to = {&byte, 1};
  if (!look->cannot_read) {
    const long result = SYS(preadv2, look->fd, &to, 1, offset, 0, RWF_NOWAIT);
    if (result != -EOPNOTSUPP)
      return result == 1 ? RESIDENT : NOT_RESIDENT;
    look->cannot_read = true;
  }
  return residency_left_alone(look, offset);
}
