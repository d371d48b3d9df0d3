/* What the environment asks for: whether this start is to be sampled, and where the sample goes.
 *
 *     FRONTLOAD_SAMPLE=/var/tmp/samples/%m.%p.flsample
 *         as FRONTLOAD_TRACE (instrument/runtime/include/frontload.h): %m is the program, %p the
 *         process, %% a percent sign. The path must be absolute: a program in production should not
 *         write into whatever folder it was started in.
 *     FRONTLOAD_SAMPLE_EVERY=1000
 *         one start of so many, chosen by chance; 1 unless it is given
 *     FRONTLOAD_SAMPLE_SLICES=10
 *         a start tells of one slice of so many of each file, chosen by chance (slice.h), or of
 *         number 3 with 3/10; 1 unless it is given: of all
 *     FRONTLOAD_ROLE=renderer
 *         what the sample calls the process
 */
#ifndef FRONTLOAD_ASKED_H
#define FRONTLOAD_ASKED_H

#include "format/frontload_role.h"

#include "base/system_calls.h"
#include "base/text.h"
#include "slice.h"

#include <stdbool.h>
#include <stdint.h>

struct asked_sample {
  uint64_t run; /* the number that the sample is to have */
  struct slice slice;
  char role[FRONTLOAD_ROLE_SIZE];
  char pattern[PATH_MAX]; /* of text_add_pattern: %m is replaced */
};

/* Whether chance has this start sampled, as FRONTLOAD_SAMPLE_EVERY asks for. All others shall pay
 * for no more than this. True as well if it cannot tell, which read_asked() then says. */
bool is_chosen(char *const *environment);

/* False if this start is not sampled. `problem` says why if that is not what the
 * environment says, or is NULL. */
bool read_asked(char *const *environment, struct asked_sample *asked, const char **problem);

#endif
