/* frontload-run: prefetches the fronts of a program and of its libraries, and becomes the program.
 *
 *   frontload-run [--verbose] [--] COMMAND [ARGUMENT...]
 *
 * It is for programs that cannot, or should not, prefetch themselves: they need only the note that
 * ld.frontload writes. If there is no note, it just runs the command.
 *
 * The command is exec'd, so its process id, exit status and signals are its own. The dynamic linker
 * that will load the libraries also says which ones the command needs (`ld.so --list COMMAND`), so
 * search paths, caches and preloads count as they will. This runs the interpreter that the command
 * names and is about to run anyway, and never the command itself; a static program has none. The
 * program is prefetched first: while its front is being read, the libraries are found.
 *
 * The exit status is the command's, 127 if it does not exist, 126 if it cannot be run, 2 if the
 * command line is wrong.
 */
#define _GNU_SOURCE
#include "base/elf_start.h"
#include "command_line.h"
#include "prefetch/front.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char toolName[] = "frontload-run";
extern char **environ;
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

/* Finds the command as execvp(3) will: false if it is nowhere, or will not be run. It must be the
 * same file, because the dynamic linker that it names is run. */
static bool findCommand(const char *command, char path[PATH_MAX]) {
  const char *folders = getenv("PATH");
  char usual[PATH_MAX];
  if (strchr(command, '/'))
    return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX && canRun(path);
  if (!folders) {
    size_t size = confstr(_CS_PATH, usual, sizeof usual);
    if (size == 0 || size > sizeof usual)
      return false;
    folders = usual;
  }
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

/* The program's dynamic linker: false if it has none, or is not ELF. */
static bool findInterpreter(const char *program, char path[PATH_MAX]) {
  int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return false;
  struct elf_start start;
  Elf64_Phdr segment = {.p_type = PT_NULL};
  if (elf_start_read(fd, &start) == 0)
    for (unsigned i = 0; i < start.segments && segment.p_type != PT_INTERP; ++i)
      elf_start_segment(&start, i, &segment);
  bool found =
      segment.p_type == PT_INTERP && segment.p_filesz > 1 && segment.p_filesz < PATH_MAX &&
      pread(fd, path, segment.p_filesz, (off_t)segment.p_offset) == (ssize_t)segment.p_filesz &&
      path[0] == '/' && !path[segment.p_filesz - 1];
  close(fd);
  return found;
}

/* Starts `INTERPRETER --list PROGRAM`; returns what it prints, or NULL. */
static FILE *startList(char *interpreter, char *program, pid_t *pid) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) < 0)
    return NULL;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char list[] = "--list";
  char *arguments[] = {interpreter, list, program, NULL};
  int error = posix_spawn(pid, interpreter, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(channel[1]);
  FILE *output = error ? NULL : fdopen(channel[0], "r");
  if (!output)
    close(channel[0]);
  return output;
}

/* The path in one line of such a list, or NULL; the line is changed. The forms are
 *     NAME => PATH (0xADDRESS)      NAME => not found      PATH-OR-NAME (0xADDRESS)
 * and a name without a slash, linux-vdso.so.1, is no file. */
static char *pathIn(char *line) {
  static const char arrow[] = " => ", address[] = " (0x";
  char *path = strstr(line, arrow);
  path = path ? path + strlen(arrow) : line + strspn(line, "\t ");
  char *end = NULL;
  for (char *next = path; (next = strstr(next, address)); ++next)
    end = next;
  if (!end)
    return NULL;
  *end = '\0';
  return strchr(path, '/') ? path : NULL;
}

static void prefetchLibraries(char *program) {
  char interpreter[PATH_MAX];
  pid_t pid;
  if (!findInterpreter(program, interpreter))
    return;
  FILE *list = startList(interpreter, program, &pid);
  if (!list)
    return;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, list) > 0) {
    const char *path = pathIn(line);
    if (path)
      prefetch(path);
  }
  free(line);
  fclose(list);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

const char usage[] = "usage: frontload-run [--verbose] [--] COMMAND [ARGUMENT...]\n";
const char help[] =
    "\n"
    "Asks the kernel for the front of a command, and for the fronts of the libraries it needs, if\n"
    "their files say that they have one. Then the command runs in the place of frontload-run. Any\n"
    "other command just runs.\n"
    "\n"
    "options:\n"
    "  --verbose  show on stderr what is prefetched\n"
    "  --help     show this help\n"
    "  --version  show the version\n"
    "\n"
    "examples:\n"
    "  frontload-run -- ./app --its arguments\n"
    "\n"
    "exit status:\n"
    "  2    the command line is wrong; otherwise the status is that of the command\n"
    "  126  the command cannot be run\n"
    "  127  the command does not exist\n";

int main(int argc, char **argv) {
  static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {NULL, 0, NULL, 0}};
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
    if (answerAbout(option))
      return 0;
    if (option != 'v')
      return usageError(refused(argv), ": unknown option, or an option that takes no value");
    verbose = true;
  }
  char **command = argv + optind;
  if (!*command)
    return usageError("", "no command was given");
  char program[PATH_MAX];
  if (findCommand(*command, program)) {
    prefetch(program);
    prefetchLibraries(program);
  }
  if (verbose && !foundAny)
    fprintf(stderr, "frontload-run: note: %s: neither it nor a library it needs has a front\n",
            *command);
  execvp(*command, command);
  return cannotRun(*command, errno);
}
