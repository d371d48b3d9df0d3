/* The front of a file: the ranges of offsets in its note (frontload_note.h).
 *
 * Nothing in the file is trusted. Like all code that is linked into the prefetcher, this uses no
 * libc (see front.h).
 */
#ifndef FRONTLOAD_RANGES_H
#define FRONTLOAD_RANGES_H

#include "base/elf_start.h"
#include "format/frontload_note.h"

#include <stdint.h>

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

/* The total size of the ranges. */
uint64_t size_of_ranges(const struct ranges *ranges);

/* The offset of a byte, counted through all ranges; it must be less than their size. */
uint64_t offset_in_ranges(const struct ranges *ranges, uint64_t byte);

/* Leaves no more than `size` bytes: whole ranges as long as they fit, then whole pages. */
void cut_ranges(struct ranges *ranges, uint64_t size);

#endif
