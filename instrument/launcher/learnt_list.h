/* Where frontload-run --learn keeps the list of a program.
 *
 * $XDG_STATE_HOME/frontload (default: ~/.local/state/frontload) has a file for each program,
 * NAME-HASH.files, with the hash of the path by which it is started: clang and clang++ have two.
 * The folder belongs to the user, and only the user may enter it.
 *
 * This calls nothing of libc (see system_calls.h): early_start.c runs before libc.
 */
#pragma once

#include "base/system_calls.h"

#include <stdbool.h>

struct learnt_list {
  char command[PATH_MAX]; /* the program, as found in PATH */
  char folder[PATH_MAX];
  char path[PATH_MAX]; /* of the list */
};

/* Finds the command as execute_command() will; false if it does not exist or will not be run. */
bool find_command(const char *command, const char *folders, char path[PATH_MAX]);

/* Fills in `folder`. False if the environment names none. */
bool find_learnt_folder(struct learnt_list *list, char *const *environment);
/* Fills in all. False if the command will not be run, or there is no folder. */
bool find_learnt_list(struct learnt_list *list, const char *command, char *const *environment);

/* Whether the folder is there, and only this user can enter it. Not for a program with rights that
 * its caller lacks. */
bool learnt_folder_is_ours(const struct learnt_list *list);

/* Whether the list is to be learnt again even if all of it is in memory: it is missing, or older
 * than ten minutes. */
bool learnt_list_is_due(const struct learnt_list *list);
