/* Whether pages of a file are in memory, found out without reading the file.
 *
 * Like all code that is linked into the prefetcher, this uses no libc (see front.h).
 */
#ifndef FRONTLOAD_RESIDENCY_H
#define FRONTLOAD_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that is being probed: begin_look, any number of probes, end_look. */
struct look {
  int fd;
  char *mapping; /* NULL before it is needed */
  size_t size;
  bool cannot_map; /* or is mapped already */
  bool cannot_read;
  uint64_t blocks_read; /* by this thread, when the look began */
};

void begin_look(struct look *look, int fd);
void end_look(struct look *look); /* leaves the file open */

enum residency { NOT_RESIDENT, RESIDENT, RESIDENCY_UNTOLD };

/* The residency of the page at `offset`. A probe may start the read of a missing page. On a fast
 * disk, that page may even be called RESIDENT (see look_has_read). */
enum residency residency_of(struct look *look, uint64_t offset);

/* Whether this thread has read from a device since the look began. */
bool look_has_read(const struct look *look);

/* residency_of() without starting a read: only for the caller's own files, and slower. */
enum residency residency_left_alone(struct look *look, uint64_t offset);

#endif
