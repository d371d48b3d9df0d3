/* The path of the list that is learnt from a program's starts: $XDG_STATE_HOME/frontload (default:
 * ~/.local/state/frontload), which only the user may enter, has NAME-HASH.files for each path by
 * which a program is started. This runs before libc, and in other programs (see system_calls.h). */
#pragma once

#include "base/system_calls.h"

#include <stdbool.h>

struct learnt_list {
  char path[PATH_MAX];
  size_t folder; /* how much of it is the folder's path */
};

/* The path of a command as execute_command() finds it: itself if it has a slash, or else `found`,
 * in `folders` (the value of PATH; NULL: the usual ones). NULL if it is in none of them. */
const char *find_command(const char *command, const char *folders, char found[PATH_MAX]);

/* Fills in the folder alone. False if the environment names none. */
bool find_learnt_folder(struct learnt_list *list, char *const *environment);
/* Fills in the path of a program's list. False if there is no folder for it. */
bool find_learnt_list(struct learnt_list *list, const char *program, char *const *environment);

/* What a start finds. */
enum learnt {
  NOT_LEARNT, /* no list, or none that can be used */
  LEARNT,     /* all of it is in memory, and it is fresh */
  TO_RENEW,   /* it is in memory, and ten minutes old */
  TO_ASK_FOR, /* it is not in memory */
};
enum learnt look_at_learnt_list(const struct learnt_list *list);

/* Why no list can be written, as an errno, or 0. The folder, or the nearest one above it that is
 * there, has to be this user's: with sudo, $HOME may be another's (EPERM). */
int learnt_list_obstacle(const struct learnt_list *list);
