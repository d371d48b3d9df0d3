/* frontload-run: prefetches the fronts of a program and of its libraries, and becomes the program.
 *
 *   frontload-run [--verbose] [--files=LIST [--device=KIND]] [--] COMMAND [ARGUMENT...]
 *
 * It is for programs that cannot, or should not, prefetch themselves: they need only the note that
 * ld.frontload writes. If there is no note, it just runs the command.
 *
 * The command is exec'd, so its process id, exit status and signals are its own. The program is
 * prefetched first: while its front is being read, its libraries are found (needed_libraries.c).
 *
 * --files: a reading list names the parts of all files that a startup reads
 * (prefetch/reading_list.h). A detached process asks for them while the command starts. Most runs
 * with a list do not come as far as main(): see early_start.c.
 *
 * The exit status is the command's, 127 if it does not exist, 126 if it cannot be run, 2 if the
 * command line is wrong.
 */
#define _GNU_SOURCE
#include "base/execute.h"
#include "command_line.h"
#include "early_start.h"
#include "needed_libraries.h"
#include "prefetch/front.h"
#include "prefetch/reading_list.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char toolName[] = "frontload-run";
static bool verbose;
static bool foundAny;

static void tell(const char *path, const struct front *front, int error) {
  if (error == -ENODATA)
    return;
  foundAny = true;
  if (!verbose)
    return;
  fprintf(stderr, "frontload-run: note: %s: ", path);
  if (error)
    fprintf(stderr, "cannot be prefetched: %s\n", strerror(-error));
  else if (front->asked < front->size)
    fprintf(stderr, "%.1f of %.1f MB are asked for: the cgroup's memory limit is near\n",
            (double)front->asked / 1e6, (double)front->size / 1e6);
  else
    fprintf(stderr, "%.1f MB %s\n", (double)front->size / 1e6,
            front->was_resident ? "are in memory already" : "are asked for");
}

static void prefetch(const char *path) {
  struct front front;
  int error = prefetch_path(path, &front);
  tell(path, &front, error);
}

static bool canRun(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Finds the command as execute_command() will; false if it does not exist or will not be run. It
 * must be the same file, because its dynamic linker is run. */
static bool findCommand(const char *command, char path[PATH_MAX]) {
  const char *folders = getenv("PATH");
  if (strchr(command, '/'))
    return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX && canRun(path);
  if (!folders)
    folders = USUAL_FOLDERS;
  for (const char *folder = folders;; ++folder) {
    int size = (int)strcspn(folder, ":");
    if (snprintf(path, PATH_MAX, "%.*s%s%s", size, folder, size ? "/" : "", command) < PATH_MAX &&
        canRun(path))
      return true;
    folder += size;
    if (!*folder)
      return false;
  }
}

static const char *listPath;

static void tellProblem(int error) {
  fprintf(stderr, "frontload-run: warning: %s: %s\n", listPath,
          error == -EBADMSG  ? "is no reading list of version 1"
          : error == -ENODEV ? "is not a regular file"
                             : strerror(-error));
}

static void describe(int error, const struct asked *asked) {
  if (error)
    tellProblem(error);
  if (asked->problem)
    fprintf(stderr, "frontload-run: warning: %s:%u: %s\n", listPath, asked->line, asked->problem);
  fprintf(stderr,
          "frontload-run: note: %s: %.1f MB of %u files are asked for, %.1f MB are in memory "
          "already, %.1f MB are too much; %u files have changed, %u cannot be read\n",
          listPath, (double)asked->bytes / 1e6, asked->files, (double)asked->resident / 1e6,
          (double)asked->over / 1e6, asked->changed, asked->missing);
}

static void askForList(const struct device_kind *device) {
  int resident = reading_list_is_resident(listPath);
  if (resident < 0)
    tellProblem(resident);
  else if (verbose || !resident)
    reading_list_ask_apart(listPath, device, verbose ? describe : NULL);
}

const char usage[] = "usage: frontload-run [--verbose] [--files=LIST [--device=KIND]] [--] COMMAND "
                     "[ARGUMENT...]\n";
const char help[] =
    "\n"
    "Asks the kernel for the front of a command, and for the fronts of the libraries it needs, if\n"
    "their files say that they have one. Then the command runs in the place of frontload-run. Any\n"
    "other command just runs.\n"
    "\n"
    "options:\n"
    "  --files=LIST   ask for what this reading list names (frontload record --files)\n"
    "  --device=KIND  hdd, emmc, ssd, nfs or lazy: which gaps of a list are read along (default:\n"
    "                 as the file system and its disk say)\n"
    "  --verbose      show on stderr what is prefetched\n"
    "  --help         show this help\n"
    "  --version      show the version\n"
    "\n"
    "examples:\n"
    "  frontload-run -- ./app --its arguments\n"
    "  frontload-run --files=app.files -- ./app --its arguments\n"
    "\n"
    "exit status:\n"
    "  2    the command line is wrong; otherwise the status is that of the command\n"
    "  126  the command cannot be run\n"
    "  127  the command does not exist\n";

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"verbose", no_argument, NULL, 'v'},      {"files", required_argument, NULL, 'f'},
      {"device", required_argument, NULL, 'd'}, {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'V'},      {NULL, 0, NULL, 0}};
  const struct device_kind *device = NULL;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
    if (answerAbout(option))
      return 0;
    if (option == 'v')
      verbose = true;
    else if (option == 'f')
      listPath = optarg;
    else if (option != 'd')
      return usageError(refused(argv), ": unknown option, or a value too many or too few");
    else if (!(device = device_kind_named(optarg)))
      return usageError("--device: ", "is hdd, emmc, ssd, nfs or lazy");
  }
  char **command = argv + optind;
  if (!*command)
    return usageError("", "no command was given");
  /* The command runs even if our messages have no reader. */
  struct sigaction ofCommand;
  const struct sigaction ignored = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignored, &ofCommand);
  char program[PATH_MAX];
  if (listPath && !list_was_asked_for)
    askForList(device);
  else if (!listPath && findCommand(*command, program)) {
    prefetch(program);
    forEachNeededLibrary(program, prefetch);
  }
  if (verbose && !listPath && !foundAny)
    fprintf(stderr, "frontload-run: note: %s: neither it nor a library it needs has a front\n",
            *command);
  sigaction(SIGPIPE, &ofCommand, NULL);
  int error = -execute_command(command, environ, getenv("PATH"));
  sigaction(SIGPIPE, &ignored, NULL);
  return cannotRun(*command, error);
}
