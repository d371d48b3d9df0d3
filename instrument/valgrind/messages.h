/* The tool's messages. They go where Valgrind writes: to the standard error output that the program
 * began with, even if the program has closed it. */
#pragma once

#include <pub_tool_basics.h>
#include <pub_tool_libcprint.h>

#define warn(format, ...) VG_(printf)("frontload-valgrind: warning: " format "\n", __VA_ARGS__)

/* If standard error was closed, the core has kept descriptor 2. That belongs to the program, which
 * would get no file of this number, or find messages in it. */
void messages_leave_standard_error(void);
