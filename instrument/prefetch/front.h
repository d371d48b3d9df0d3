/* Finds the front of a file by its note (see frontload_note.h), and asks the kernel for it.
 *
 * Everything here runs in an IFUNC resolver, where nothing is initialized yet: no libc, no errno,
 * no thread-local storage, only raw system calls.
 */
#ifndef FRONTLOAD_FRONT_H
#define FRONTLOAD_FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct front {
  uint64_t size;     /* the bytes of all its ranges */
  uint64_t asked;    /* the bytes asked for: fewer if memory is limited */
  bool was_resident; /* nothing had to be done; false if too small to probe */
};

struct range;

/* Asks for a range of a file, and does not wait. Returns 0, or a negative errno. */
int prefetch_range(int fd, const struct range *range);

/* Returns 0, or a negative errno: -ENODATA if the file has no front that can be found. */
int prefetch_front(int fd, struct front *front);

/* The same for the file at `path`, which may be of any kind. */
int prefetch_path(const char *path, struct front *front);

#endif
