/* frontload-run --learn: what a start touches becomes the list that the next cold start asks for.
 *
 * A process of low priority watches, detached like the one that asks (run_apart). It looks when an
 * eighth more is mapped, and not at all if the start is like earlier ones (known_starts.h). It ends
 * with the start: at the command's end, when nothing new is mapped for two seconds, or after a
 * minute. The page cache then has what was touched after the last look.
 *
 * The list is merged with what was known. A page has a weight, in the list's column `runs`: 2 for
 * each start that touches it, at most 8, and 1 less for each start that does not. A page whose
 * weight is 0 leaves. A start takes nothing away if it went on after the last look at it.
 */
#pragma once

#include "prefetch/learnt_list.h"

#include <stdbool.h>
#include <sys/types.h>

/* Makes the folder, if it is not there. Returns 0 or an errno: EPERM if it is another user's. */
int learn_prepare(const struct learnt_list *list);

/* The start of a process. */
struct start {
  const struct learnt_list *list;
  const char *program;              /* the path by which it is started */
  pid_t command;                    /* the process, which may still have to become the program */
  const struct device_kind *device; /* or NULL */
  bool home;                        /* also learn files in home folders */
  bool verbose;                     /* report on stderr, in the end */
};

/* Watches a start, and returns when it is learnt. */
void learn_here(const struct start *start);
/* The same in a detached process. False if there can be none here. */
bool learn_apart(struct start *start);

/* Deletes a program's list, or all lists if there is only their folder. Returns 0 or an errno. */
int learn_forget(const struct learnt_list *list);
