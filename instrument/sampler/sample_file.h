/* A sample, put together in memory and written in one piece (format/frontload_sample_format.h). */
#ifndef FRONTLOAD_SAMPLE_FILE_H
#define FRONTLOAD_SAMPLE_FILE_H

#include "base/text.h"
#include "format/frontload_sample_format.h"
#include "mappings.h"
#include "slice.h"
#include "touched_pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LARGEST_SAMPLE = 1 << 20, MOST_PAGES = 1 << 22 };

struct sample {
  size_t size;
  bool is_too_large;
  const struct page_table *table;
  const struct slice *asked;
  /* The module that is being added. */
  const struct mapping *mapping;
  struct slice slice;
  bool is_exact;
  uint64_t end;                      /* of its touched pages */
  uint64_t touched[MOST_PAGES / 64]; /* a bit for each page of the file: it may be mapped anywhere,
                                      * and twice */
  unsigned char bytes[LARGEST_SAMPLE];
};

/* In memory of its own; NULL if there is none. `header` is completed when it is written. */
struct sample *begin_sample(const struct frontload_sample_header *header,
                            const struct page_table *table, const struct slice *asked);

/* Adds what is touched of a file. False if the file is left out: it is none that code is loaded
 * from, it does not fit, or the kernel does not tell. */
bool add_module(struct sample *sample, const struct mappings *mappings, unsigned file,
                bool is_main);

/* Writes it to a new file at `path`, or at `path`.1, .2... if there is one already. 0 or a negative
 * errno; then there is no file. It gets its name when it is whole: before that, a number that no
 * other process has is in the name. */
long write_sample(struct sample *sample, struct text *path, uint32_t number);

void free_sample(struct sample *sample);

#endif
