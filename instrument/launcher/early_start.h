/* The state that early_start.c leaves to main() of frontload-run. */
#ifndef FRONTLOAD_LAUNCHER_EARLY_START_H
#define FRONTLOAD_LAUNCHER_EARLY_START_H

#include <stdbool.h>

/* The list was asked for, and then the command could not be run. */
extern bool list_was_asked_for;

#endif
