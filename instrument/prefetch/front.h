/* Finds the front of a file by its note (see frontload_note.h), and asks the kernel for it.
 *
 * Nothing in the file is trusted. Everything here runs in an IFUNC resolver, where nothing is
 * initialized yet: no libc, no errno, no thread-local storage, only raw system calls.
 */
#ifndef FRONTLOAD_FRONT_H
#define FRONTLOAD_FRONT_H

#include "base/elf_start.h"
#include "format/frontload_note.h"

#include <stdbool.h>
#include <stdint.h>

struct front {
  uint64_t size;     /* the bytes of all its ranges */
  uint64_t asked;    /* the bytes asked for: fewer if memory is limited */
  bool was_resident; /* nothing had to be done; false if too small to probe */
};

/* On every machine, files are read in multiples of this. */
enum { MIN_PAGE = 4096 };

/* From the offset `begin` to before `end`. */
struct range {
  uint64_t begin, end;
};

/* In the order in which they are to be asked for. None is empty, and no two overlap. */
struct ranges {
  unsigned count;
  struct range range[FRONTLOAD_NOTE_MAX_RANGES];
};

/* The ranges of the file's front, none if it has no valid note. Ranges that follow each other in
 * the file, with no page between them, become one. */
void find_ranges(int fd, const struct elf_start *start, struct ranges *ranges);

/* Asks for a range of a file, and does not wait. Returns 0, or a negative errno. */
int prefetch_range(int fd, const struct range *range);

/* Returns 0, or a negative errno: -ENODATA if the file has no front that can be found. */
int prefetch_front(int fd, struct front *front);

/* The same for the file at `path`, which may be of any kind. */
int prefetch_path(const char *path, struct front *front);

#endif
