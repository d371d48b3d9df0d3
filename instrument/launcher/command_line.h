/* The common part of the launchers' command lines. Each launcher defines the three texts. */
#pragma once

#include <stdbool.h>

extern const char toolName[], usage[], help[];

/* Answers --help ('h') and --version ('V'). Returns whether `option` is one of these. */
bool answerAbout(int option);

/* Reports a wrong command line. Returns the exit status. */
int usageError(const char *thing, const char *what);

/* The argument that getopt_long has just refused. */
const char *refused(char **argv);

/* Reports why the command could not be exec'd. Returns the exit status. */
int cannotRun(const char *command, int error);
