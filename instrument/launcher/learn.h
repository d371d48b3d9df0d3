/* frontload-run --learn: a start is watched, and what it touches becomes the list that the next
 * cold start asks for.
 *
 * A process of low priority watches, detached like the one that asks (run_apart). It takes
 * one part in a hundred of the start's processor time, one in three hundred of its duration (of a
 * program's first start, one in a hundred), and 5 ms. It ends with the start: at the command's end,
 * when nothing new is mapped for two seconds, or after a minute.
 *
 * The list is merged with what was known. A page has a weight, in the list's column `runs`: 2 for
 * each start that touches it, at most 8, and 1 less for each start that does not. A page whose
 * weight is 0 leaves. A start takes nothing away if it ended long after the last look at it.
 */
#pragma once

#include "learnt_list.h"

#include <stdbool.h>

/* Makes the folder, if it is not there. Returns 0 or an errno: EPERM if it is another user's. */
int learn_prepare(const struct learnt_list *list);

/* Watches this process, which becomes the command. `home`: also files in home folders. `verbose`:
 * reports on stderr, in the end. False if no process can be detached here. */
bool learn_apart(const struct learnt_list *list, bool home, bool verbose);

/* Deletes the list of a program, or all lists if `path` is NULL. Returns 0 or an errno. */
int learn_forget(const struct learnt_list *list, const char *path);
