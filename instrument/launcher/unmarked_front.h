/* Asks for the front of a file that another process will map. */
#pragma once

#include "prefetch/front.h"

/* prefetch_front() for the file at `path`, which may be of any kind. The kernel then does not read
 * on behind the front. Calls nothing of libc, so it may run before that is initialized. */
int prefetch_unmarked(const char *path, struct front *front);
