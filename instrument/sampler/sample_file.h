/* A sample, put together in memory and written in one piece (format/frontload_sample_format.h). */
#ifndef FRONTLOAD_SAMPLE_FILE_H
#define FRONTLOAD_SAMPLE_FILE_H

#include "base/text.h"
#include "format/frontload_sample_format.h"
#include "mappings.h"
#include "touched_pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LARGEST_SAMPLE = 1 << 20 };

struct sample {
  size_t size;
  bool is_too_large;
  const struct page_table *table;
  /* The module that is being added. */
  const struct mapping *mapping;
  uint64_t last;       /* the page behind the last range that was written */
  uint64_t begin, end; /* the range that is not written yet, in pages; empty: none */
  uint64_t ranges;
  size_t ranges_at;
  unsigned char bytes[LARGEST_SAMPLE];
};

/* In memory of its own; NULL if there is none. `header` is completed when it is written. */
struct sample *begin_sample(const struct frontload_sample_header *header,
                            const struct page_table *table);

/* Adds what is touched of a file. Its ranges are those that the kernel tells. False if the file is
 * left out: it is none that code is loaded from, or the kernel does not tell. */
bool add_module(struct sample *sample, const struct mappings *mappings, unsigned file,
                unsigned flags);

/* Writes it to a new file at `path`, or to one with `suffix` behind that if there is a file
 * already. 0 or a negative errno; then there is no file. */
long write_sample(struct sample *sample, struct text *path, uint32_t suffix);

void free_sample(struct sample *sample);

#endif
