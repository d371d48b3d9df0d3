/* Starts that teach nothing. A list has lines `start MINOR MAJOR`: the page faults of starts that
 * it served. A start is only awaited. If its faults were unlike these, the next one is watched
 * closely, and so is each eighth. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Of pages that were in memory, and of pages that were not. */
struct faults {
  uint64_t minor, major;
};

enum { MAX_KINDS = 8 };
struct known_starts {
  const char *list;
  pid_t process, parent;
  struct faults kinds[MAX_KINDS]; /* the newest first; the first without a fault ends them */
  uint64_t alike;                 /* starts like them since the list was written */
  struct faults others;           /* other children of the parent */
  struct faults faults;           /* of this start */
};

/* At the beginning of a start. */
struct known_starts known_starts(const char *list, pid_t process);

/* False if this start is to be watched closely. Else waits for its end, and counts it in the list;
 * `is_new`: it was not like the known ones. */
bool known_starts_wait(struct known_starts *known, bool *is_new);

/* Counts the faults of this start; as soon as it ends, as its parent may end as well. Returns
 * whether the process waits for a disk. */
bool known_starts_count(struct known_starts *known);

/* Writes the first lines of a list; `adds`: with this start. */
void known_starts_write(struct known_starts *known, bool adds, FILE *to);
