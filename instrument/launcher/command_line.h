/* What the launchers' command lines have in common. Each launcher defines the three texts. */
#ifndef FRONTLOAD_LAUNCHER_COMMAND_LINE_H
#define FRONTLOAD_LAUNCHER_COMMAND_LINE_H

#include <stdbool.h>

extern const char toolName[], usage[], help[];

/* Answers --help ('h') and --version ('V'). Returns whether `option` is one of these. */
bool answerAbout(int option);

/* Says what is wrong with the command line. Returns the exit status. */
int usageError(const char *thing, const char *what);

/* Which argument getopt_long has just refused. */
const char *refused(char **argv);

/* Says why the command could not be exec'd. Returns the exit status. */
int cannotRun(const char *command, int error);

#endif
