/* Starts that teach nothing. A list has lines `start MINOR MAJOR`: the page faults of starts that
 * the list served. With such lines, the learner only waits for a start, and compares its faults. If
 * they were unlike these, the next start is watched closely. So is each 32nd start: watching costs
 * a tenth of the processor time of a short start, waiting 0.3%. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Page faults: minor ones on pages in memory, major ones on pages that the kernel had to read. */
struct faults {
  uint64_t minor, major;
};

enum { MAX_KINDS = 8 };
struct known_starts {
  const char *list;
  pid_t process, parent;
  struct faults kinds[MAX_KINDS]; /* the newest first; the first without a fault ends them */
  uint64_t alike;                 /* starts like these kinds since the list was written */
  struct faults others;           /* of other children of the parent */
  struct faults faults;           /* of this start; none if they are unknown */
};

/* At the beginning of a start. */
struct known_starts known_starts(const char *list, pid_t process);

/* False if this start is to be watched closely. Otherwise waits for the start's end, and counts the
 * start in the list; `is_new`: the start was not like the known ones. */
bool known_starts_wait(struct known_starts *known, bool *is_new);

/* Reads the faults of this start so far. To be called as soon as the process ends: the parent may
 * end next, and take the sum along. Returns whether the process waits for a disk. */
bool known_starts_count(struct known_starts *known);

/* Writes the first lines of a list; `adds`: with this start. */
void known_starts_write(struct known_starts *known, bool adds, FILE *to);
