/* The kind of a file's device, which decides the gaps between two ranges that are read too: a gap
 * costs the time of its bytes, and leaving it out costs one more request. */
#ifndef FRONTLOAD_DEVICE_KIND_H
#define FRONTLOAD_DEVICE_KIND_H

#include <stdint.h>
#include <sys/stat.h>

struct device_kind {
  char name[8];
  uint64_t max_gap; /* in bytes */
};

/* The kind of this name, or NULL. */
const struct device_kind *device_kind_named(const char *name);

/* The kind of an open file's device, by its file system and the kernel's settings of its disk. */
const struct device_kind *device_kind_of(int fd, const struct stat *status);

#endif
