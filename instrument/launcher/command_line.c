/* Help, and the messages about wrong command lines. */
#include "command_line.h"

#include "base/exit_status.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

bool answerAbout(int option) {
  if (option == 'h')
    printf("%s%s", usage, help);
  else if (option == 'V')
    printf("%s %s\n", toolName, FRONTLOAD_VERSION);
  return option == 'h' || option == 'V';
}

int usageError(const char *thing, const char *what) {
  fprintf(stderr, "%s%s: error: %s%s\n%s: note: try: %s --help\n", usage, toolName, thing, what,
          toolName, toolName);
  return EXIT_USAGE;
}

const char *refused(char **argv) { return argv[optind > 1 ? optind - 1 : optind]; }

int cannotRun(const char *command, int error) {
  fprintf(stderr, "%s: error: %s: cannot be run: %s\n%s: note: %s\n", toolName, command,
          strerror(error), toolName, how_to_execute(error));
  return status_of_exec_error(error);
}
