/* frontload-run: prefetches the fronts of a program and of its libraries, and becomes the program:
 * for programs that cannot, or should not, prefetch themselves. The program is prefetched first:
 * while its front is being read, its libraries are found.
 *
 * --files: a detached process asks for the parts of all files that a startup reads
 * (prefetch/prefetch_list.h). Most runs with a list do not come as far as main(): see
 * early_start.c.
 *
 * --learn: the list is what earlier starts of the program have touched (learn.h). It is asked for
 * behind the program's front, and this start is watched.
 */
#include "base/elf_start.h"
#include "base/execute.h"
#include "command_line.h"
#include "learn.h"
#include "prefetch/apart.h"
#include "prefetch/front.h"
#include "prefetch/learnt_list.h"
#include "prefetch/prefetch_list.h"
#include "unmarked_front.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char toolName[] = "frontload-run";
static bool verbose;
static bool foundAny;
/* early_start.c has asked for the list, and did not run the command. */
extern bool listWasAskedFor;

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
  else if (!front->misses_tail)
    fprintf(stderr, "%.1f MB %s\n", (double)front->size / 1e6,
            front->was_resident ? "are in memory already" : "are asked for");
  else
    fprintf(stderr, "%.1f MB are asked for, and %.1f MB more when the program needs others\n",
            (double)front->size / 1e6, (double)front->tail / 1e6);
}

static pid_t ownId; /* of this process, which becomes the program */

static void askForTail(void *path) { prefetch_tail(path, (uint32_t)ownId); }

static void prefetch(const char *path) {
  struct front front;
  int error = prefetch_unmarked(path, &front);
  tell(path, &front, error);
  if (!error && front.misses_tail) {
    ownId = getpid();
    run_apart("frontload-tail", false, askForTail, (void *)path);
  }
}

/* Finds the program's dynamic linker. False if it has none, or is not ELF. */
static bool findInterpreter(const char *program, char path[PATH_MAX]) {
  int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return false;
  struct elf_start start;
  bool found = false;
  unsigned segments = elf_start_read(fd, &start) == 0 ? start.segments : 0;
  for (unsigned i = 0; i < segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(&start, i, &segment);
    if (segment.p_type == PT_INTERP && !found)
      found =
          segment.p_filesz > 1 && segment.p_filesz < PATH_MAX &&
          pread(fd, path, segment.p_filesz, (off_t)segment.p_offset) == (ssize_t)segment.p_filesz &&
          path[0] == '/' && !path[segment.p_filesz - 1];
  }
  close(fd);
  return found;
}

/* Starts `INTERPRETER --list PROGRAM`; returns its output, or NULL. */
static FILE *startList(const char *interpreter, const char *program, pid_t *pid) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) < 0)
    return NULL;
  *pid = fork();
  if (*pid == 0) {
    /* These are for one run of the program, and do not affect the list. */
    unsetenv("LD_AUDIT");
    unsetenv("LD_DEBUG");
    unsetenv("LD_PROFILE");
    dup2(channel[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execl(interpreter, interpreter, "--list", program, (char *)NULL);
    _exit(1);
  }
  close(channel[1]);
  FILE *output = *pid < 0 ? NULL : fdopen(channel[0], "r");
  if (!output)
    close(channel[0]);
  return output;
}

/* The path in one line of such a list, or NULL: NAME => PATH (0xADDRESS), NAME => not found, or
 * PATH-OR-NAME (0xADDRESS). A name without a slash, linux-vdso.so.1, is no file. */
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

/* Prefetches the libraries that the program needs. Its own dynamic linker lists them, by the search
 * paths, caches and preloads that will be used to load them, without running the program. */
static void prefetchNeededLibraries(const char *program) {
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

static const char *listPath;
static struct learnt_list learnt;

static void tellProblem(int error) {
  fprintf(stderr, "frontload-run: warning: %s: %s\n", listPath,
          error == -EBADMSG  ? "is no prefetch list of version 1"
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
  int resident = prefetch_list_is_resident(listPath, NULL);
  if (resident < 0)
    tellProblem(resident);
  else if (verbose || !resident)
    prefetch_list_ask_apart(listPath, device, verbose ? describe : NULL);
}

static void askForFronts(const char *program) {
  prefetch(program);
  prefetchNeededLibraries(program);
}

/* Why nothing can be learnt; only for --verbose, because the command runs as well without. */
static void tellObstacle(const char *thing, const char *obstacle) {
  if (verbose)
    fprintf(stderr, "frontload-run: warning: %s: nothing can be learnt: %s\n", thing, obstacle);
}

/* Asks for the program's front, then for what was learnt, if anything. Then watches the start. */
static void learn(const char *command, const struct device_kind *device, bool takesHome) {
  char found[PATH_MAX];
  const char *program = find_command(command, getenv("PATH"), found);
  struct start start = {&learnt, program, getpid(), device, takesHome, verbose};
  if (!program || !find_learnt_list(&learnt, program, environ)) {
    tellObstacle(command, "it cannot be run, or neither XDG_STATE_HOME nor HOME names a folder");
    return;
  }
  const int error = learn_prepare(&learnt);
  const int resident = error || listWasAskedFor ? -1 : prefetch_list_is_resident(learnt.path, NULL);
  if (resident == 0)
    prefetch(program);
  if (resident >= 0)
    listPath = learnt.path;
  if (listPath)
    askForList(device);
  else if (!listWasAskedFor)
    askForFronts(program);
  if (error)
    tellObstacle(learnt.path, strerror(error));
  else if (!learn_apart(&start))
    tellObstacle(learnt.path, "process 1 would not reap the process that watches");
}

/* --watch: a program that has asked for its list itself (prefetch/at_start.c). */
static int watch(pid_t process, const char *program, const struct device_kind *device,
                 bool takesHome) {
  struct start start = {&learnt, program, process, device, takesHome, verbose};
  const int error = find_learnt_list(&learnt, program, environ) ? learn_prepare(&learnt) : ENOENT;
  if (error)
    fprintf(stderr, "frontload-run: error: %s: cannot be learnt: %s\n", program, strerror(error));
  else
    learn_here(&start);
  return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* --forget: of one program, or of all. */
static int forget(const char *command) {
  char found[PATH_MAX];
  const char *program = command ? find_command(command, getenv("PATH"), found) : NULL;
  const bool isFound = program ? find_learnt_list(&learnt, program, environ)
                               : !command && find_learnt_folder(&learnt, environ);
  const int error = isFound ? learn_forget(&learnt) : ENOENT;
  if (error)
    fprintf(stderr, "frontload-run: error: %s: cannot be forgotten: %s\n",
            command ? command : "what was learnt", strerror(error));
  return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

const char usage[] =
    "usage: frontload-run [--verbose] [--learn] [--files=LIST] [--device=KIND] [--] "
    "COMMAND [ARGUMENT...]\n"
    "       frontload-run --forget [COMMAND]\n"
    "       frontload-run --watch=PID PROGRAM\n";
const char help[] =
    "\n"
    "Asks the kernel for the front of a command, and for the fronts of the libraries it needs, if\n"
    "their files say that they have one. Then the command runs in the place of frontload-run. Any\n"
    "other command just runs.\n"
    "\n"
    "options:\n"
    "  --files=LIST   ask for what this prefetch list names (frontload record --all-files)\n"
    "  --learn        watch this start, and ask for what earlier ones have touched; --learn=home\n"
    "                 also learns files in home folders that are not the program's own. Lists are\n"
    "                 in $XDG_STATE_HOME/frontload (default: ~/.local/state/frontload)\n"
    "  --forget       delete what was learnt of COMMAND, or all of it\n"
    "  --watch=PID    learn the start of this process, of PROGRAM, and run nothing\n"
    "  --device=KIND  hdd, emmc, ssd, nfs or lazy: which gaps of a list are read along (default:\n"
    "                 as the file system and its disk say)\n"
    "  --verbose      show on stderr what is prefetched\n"
    "  --help         show this help\n"
    "  --version      show the version\n"
    "\n"
    "examples:\n"
    "  frontload-run -- ./app --its arguments\n"
    "  frontload-run --files=app.files -- ./app --its arguments\n"
    "  frontload-run --learn -- ./app --its arguments\n"
    "\n"
    "exit status:\n"
    "  2    the command line is wrong; otherwise the status is that of the command\n"
    "  126  the command cannot be run\n"
    "  127  the command does not exist\n";

int main(int argc, char **argv) {
  static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"files", required_argument, NULL, 'f'},
                                          {"learn", optional_argument, NULL, 'l'},
                                          {"forget", no_argument, NULL, 'g'},
                                          {"watch", required_argument, NULL, 'w'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {NULL, 0, NULL, 0}};
  const struct device_kind *device = NULL;
  pid_t watched = 0;
  bool learns = false, takesHome = false, forgets = false;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
    if (answerAbout(option))
      return 0;
    if (option == 'v')
      verbose = true;
    else if (option == 'f')
      listPath = optarg;
    else if (option == 'g')
      forgets = true;
    else if (option == 'w' && (watched = atoi(optarg)) <= 0)
      return usageError("--watch=", "takes the number of a process");
    else if (option == 'l' && (!optarg || strcmp(optarg, "home") == 0)) {
      learns = true;
      takesHome = optarg != NULL;
    } else if (option == 'l')
      return usageError("--learn=", "can only be --learn=home");
    else if (option != 'd' && option != 'w')
      return usageError(refused(argv), ": unknown option, or a value too many or too few");
    else if (option == 'd' && !(device = device_kind_named(optarg)))
      return usageError("--device: ", "is hdd, emmc, ssd, nfs or lazy");
  }
  char **command = argv + optind;
  if (forgets)
    return forget(*command);
  if (!*command)
    return usageError("", "no command was given");
  if (watched)
    return watch(watched, *command, device, takesHome);
  /* The command runs even if our messages have no reader. */
  struct sigaction ofCommand;
  const struct sigaction ignored = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignored, &ofCommand);
  char found[PATH_MAX];
  const char *program;
  if (learns)
    learn(*command, device, takesHome);
  else if (listPath && !listWasAskedFor)
    askForList(device);
  else if (!listPath && (program = find_command(*command, getenv("PATH"), found)))
    askForFronts(program);
  if (verbose && !listPath && !foundAny)
    fprintf(stderr, "frontload-run: note: %s: neither it nor a library it needs has a front\n",
            *command);
  sigaction(SIGPIPE, &ofCommand, NULL);
  int error = -execute_command(command, environ, getenv("PATH"));
  sigaction(SIGPIPE, &ignored, NULL);
  return cannotRun(*command, error);
}
