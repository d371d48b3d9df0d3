/* What the tool says, to where Valgrind writes: the standard error output that the program began
 * with, even if the program has closed it. */
#ifndef FRONTLOAD_VALGRIND_MESSAGES_H
#define FRONTLOAD_VALGRIND_MESSAGES_H

#include <pub_tool_basics.h>
#include <pub_tool_libcprint.h>

#define warn(format, ...) VG_(printf)("frontload-valgrind: warning: " format "\n", __VA_ARGS__)

#endif
