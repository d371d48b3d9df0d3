/* The exit statuses of a program that runs a command: the command's own, or one of these, which
 * env(1) and shells use as well. */
#pragma once

#include <errno.h>
#include <sys/wait.h>

enum exit_status {
  EXIT_USAGE = 2,            /* the command line is wrong */
  EXIT_FAILED = 125,         /* the program that runs the command fails */
  EXIT_NOT_EXECUTABLE = 126, /* the command cannot be executed */
  EXIT_NOT_FOUND = 127,      /* the command does not exist */
};

/* Advice for the last two. */
#define HOW_TO_EXECUTE                                                                             \
  "give its path, or put its folder in PATH; a file must be executable (chmod +x)"

/* The note for a command whose exec failed with this errno. */
static inline const char *how_to_execute(int error) {
  return error == ENOEXEC ? "it is neither a script nor a program for this machine, or is damaged"
                          : HOW_TO_EXECUTE;
}

/* The exit status for this errno of exec. */
static inline int status_of_exec_error(int error) {
  return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* The status for a command that has ended with this wait status. */
static inline int status_of_ended(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
