/* What the device of a file is like, as far as it decides which gaps between two ranges are read
 * along: that costs the time of their bytes, and leaving them out costs one more request. */
#ifndef FRONTLOAD_DEVICE_KIND_H
#define FRONTLOAD_DEVICE_KIND_H

#include <stdint.h>
#include <sys/stat.h>

struct device_kind {
  char name[8];
  uint64_t largest_gap; /* in bytes */
};

/* The kind of this name, or NULL. */
const struct device_kind *device_kind_named(const char *name);

/* The kind that an open file is on: by its file system and by what the kernel says of its disk. */
const struct device_kind *device_kind_of(int fd, const struct stat *status);

#endif
