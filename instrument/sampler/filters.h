/* Whether the program has given itself a filter of system calls since it started.
 *
 * Such a filter may kill for any call that it does not expect, and at its end a program expects
 * none of ours. So nothing is asked that a program can do without: /proc/self/status is opened at
 * the start, and at the end it takes an fstat() and a read() to see how many filters there are.
 *
 * In a forked child it shows the parent, whose filters the child has, too, if they are older; and
 * there it takes a pread(), since both have one place in the file. prctl() is asked where all this
 * does not tell: of a filter of a child alone, or of another thread than the first, or where the
 * program has closed the descriptor. A filter that kills for prctl() does so then. And if one was
 * there from the start, prctl() says nothing of another: it is not seen.
 */
#ifndef FRONTLOAD_FILTERS_H
#define FRONTLOAD_FILTERS_H

#include "kept_file.h"

#include <stdbool.h>
#include <stdint.h>

struct filters {
  struct kept_file status;
  uint32_t thread; /* that it is about */
  bool *is_first;  /* false in forked children; NULL: not told */
  long at_start;
  char text[8192]; /* what is read; more has only who is in 600 groups */
};

void begin_filters(struct filters *filters);

/* Once. If one was there at the start, Linux before 5.9 does not tell of others. */
bool has_new_filter(struct filters *filters);

void end_filters(struct filters *filters);

#endif
