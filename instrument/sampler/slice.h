/* Which pages of each file a start tells of, if not of all.
 *
 * To know a page exactly costs a minor fault when it is touched (exact_pages.h), which is some
 * percent of a start. So a start may tell of one slice of each file: another each time, and
 * together of all of it. A slice is stripes, because what a start touches lies together: of ten
 * slices, number 3 is stripes 3, 13, 23... Each stripe is a mapping of its own as long as it lasts,
 * which costs as much as some faults: so a slice of a file has eight of them at most, and they are
 * no smaller than four of the windows that the kernel maps around a fault.
 */
#ifndef FRONTLOAD_SLICE_H
#define FRONTLOAD_SLICE_H

#include "mappings.h"

#include <stdbool.h>
#include <stdint.h>

enum { LEAST_STRIPE = 4 << 16, MOST_STRIPES = 8, MOST_SLICES = 1000 };

struct slice {
  uint32_t count; /* 1: all pages */
  uint32_t number;
  uint64_t stripe; /* in bytes, of a certain file */
};

/* What is asked for of all files, of one of them. */
static inline struct slice slice_of(const struct slice *asked, const struct mappings *mappings,
                                    unsigned file, uint64_t page_size) {
  struct slice slice = *asked;
  const uint64_t least = page_size < LEAST_STRIPE ? LEAST_STRIPE : page_size;
  const uint64_t step = least * MOST_STRIPES * slice.count;
  slice.stripe =
      slice.count == 1 ? UINT64_C(1) << 62 : (mapped_end(mappings, file) + step - 1) / step * least;
  return slice;
}

/* Goes on from address *end of a mapping, at first its beginning, to what comes next of a slice of
 * its file. False if there is no more. */
static inline bool next_in_slice(const struct slice *slice, const struct mapping *mapping,
                                 uintptr_t *begin, uintptr_t *end) {
  const uint64_t place = mapping->begin - mapping->offset, step = slice->stripe * slice->count;
  const uint64_t at = *end - place, limit = mapping->end - place;
  uint64_t first = at / step * step + slice->stripe * slice->number;
  if (first + slice->stripe <= at)
    first += step;
  *begin = place + (first < at ? at : first);
  *end = place + (first + slice->stripe < limit ? first + slice->stripe : limit);
  return *begin < *end;
}

#endif
