/* frontload-exec: runs one command and writes what it cost as one line of JSON.
 *
 *   frontload-exec [--output=FILE | --fd=N] [--cgroup=FOLDER] -- COMMAND [ARGUMENT...]
 *
 * Why this is not done in Python: the kernel keeps the peak memory of the image that a process had
 * before exec, so a child of a 100 MB Python process reports at least what Python held at the fork
 * (ru_maxrss), and copying such a process's page tables is slow and noisy. The parent of a measured
 * program has to be tiny, and this one is: it sets a floor of 0.7 MB, less than any dynamically
 * linked program needs.
 *
 * --cgroup: this process enters the cgroup first, and the command inherits it; that is how the
 * bench throttles a command's reads and nobody else's.
 *
 * The line is written only if the command was started and waited for, so its absence tells a reader
 * that nothing was measured. The exit status is the command's (128 + signal if one ended it), 127
 * if the command does not exist, 126 if it cannot be run, 2 if something else failed.
 *
 * The figures include children that the command itself waited for, as wait4(2) defines it.
 */
#define _GNU_SOURCE
#include "base/exit_status.h"
#include "command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char toolName[] = "frontload-exec";

/* What the child tells through a pipe that closes itself at exec. */
struct Message {
  int64_t startNs; /* the clock just before exec */
  int error;       /* 0, or why exec failed (then a second message) */
};

static volatile sig_atomic_t commandPid;

/* `remedy`: what to do, or NULL. */
static void failWith(const char *remedy, int code, const char *thing, const char *what, int error) {
  fprintf(stderr, "frontload-exec: error: %s: %s%s%s\n", thing, what, error ? ": " : "",
          error ? strerror(error) : "");
  if (remedy)
    fprintf(stderr, "frontload-exec: note: %s\n", remedy);
  exit(code);
}

static void fail(int code, const char *thing, const char *what, int error) {
  failWith(NULL, code, thing, what, error);
}

static int64_t nowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t microseconds(struct timeval time) {
  return time.tv_sec * INT64_C(1000000) + time.tv_usec;
}

static void enterCgroup(const char *folder) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/cgroup.procs", folder) >= (int)sizeof path)
    fail(EXIT_USAGE, folder, "cannot enter the cgroup", ENAMETOOLONG);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  /* "0" stands for the process that writes. */
  if (fd < 0 || write(fd, "0", 1) != 1)
    failWith("give the folder of a control group that you may add processes to", EXIT_USAGE, path,
             "cannot enter the cgroup", errno);
  close(fd);
}

static int openOutput(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    failWith("choose another place with --output", EXIT_USAGE, path, "cannot be written", errno);
  return fd;
}

static int parseFd(const char *text) {
  char *end;
  errno = 0;
  long fd = strtol(text, &end, 10);
  if (errno || end == text || *end || fd < 0 || fd > INT_MAX)
    fail(EXIT_USAGE, text, "is not a descriptor number", 0);
  if (fcntl((int)fd, F_GETFD) < 0)
    fail(EXIT_USAGE, text, "is not an open descriptor", errno);
  /* The command must not hold it: a reader would wait for the command's children. 0 to 2 are the
   * command's own, whoever reads them. */
  if (fd > 2)
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
  return (int)fd;
}

static void forward(int signal) {
  if (commandPid > 0)
    kill(commandPid, signal);
}

/* From a terminal, SIGINT and SIGQUIT reach the command too: it decides, and is waited for. SIGTERM
 * and SIGHUP are sent to one process, so they are handed on. The command gets the old actions back.
 */
static const int handledSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
enum { HANDLED_SIGNALS = sizeof handledSignals / sizeof *handledSignals };

static void takeSignals(struct sigaction *old, sigset_t *oldMask) {
  /* Held back until there is a command to hand them on to. */
  sigset_t handled;
  sigemptyset(&handled);
  for (int i = 0; i < HANDLED_SIGNALS; ++i)
    sigaddset(&handled, handledSignals[i]);
  sigprocmask(SIG_BLOCK, &handled, oldMask);
  for (int i = 0; i < HANDLED_SIGNALS; ++i) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_flags = SA_RESTART;
    action.sa_handler =
        handledSignals[i] == SIGINT || handledSignals[i] == SIGQUIT ? SIG_IGN : forward;
    sigaction(handledSignals[i], &action, &old[i]);
  }
}

static void giveSignalsBack(const struct sigaction *old, const sigset_t *oldMask) {
  for (int i = 0; i < HANDLED_SIGNALS; ++i)
    sigaction(handledSignals[i], &old[i], NULL);
  sigprocmask(SIG_SETMASK, oldMask, NULL);
}

static void writeLine(int fd, int status, int64_t wallNs, const struct rusage *use) {
  char code[16], signal[16];
  snprintf(code, sizeof code, WIFEXITED(status) ? "%d" : "null", WEXITSTATUS(status));
  snprintf(signal, sizeof signal, WIFSIGNALED(status) ? "%d" : "null", WTERMSIG(status));
  if (dprintf(fd,
              "{\"exit_status\": %s, \"signal\": %s, \"wall_ns\": %" PRId64
              ", \"user_us\": %" PRId64 ", \"system_us\": %" PRId64
              ", \"major_faults\": %ld, \"minor_faults\": %ld, \"max_rss_kib\": %ld"
              ", \"blocks_in\": %ld, \"voluntary_switches\": %ld, \"involuntary_switches\": %ld}\n",
              code, signal, wallNs, microseconds(use->ru_utime), microseconds(use->ru_stime),
              use->ru_majflt, use->ru_minflt, use->ru_maxrss, use->ru_inblock, use->ru_nvcsw,
              use->ru_nivcsw) < 0)
    fail(EXIT_USAGE, "the result", "cannot be written", errno);
}

const char usage[] =
    "usage: frontload-exec [--output=FILE | --fd=N] [--cgroup=FOLDER] -- COMMAND [ARGUMENT...]\n";
const char help[] =
    "\n"
    "Runs a command and writes its exit status, time, faults and memory as one line of JSON, by\n"
    "default to standard error.\n"
    "\n"
    "options:\n"
    "  --output=FILE    write the line to this file\n"
    "  --fd=N           write it to this open descriptor\n"
    "  --cgroup=FOLDER  run the command in this control group\n"
    "  --help           show this help\n"
    "  --version        show the version\n"
    "\n"
    "examples:\n"
    "  frontload-exec --output=cost.json -- ./app --version\n"
    "\n"
    "exit status:\n"
    "  2    something other than the command failed; otherwise the status is that of the command\n"
    "  126  the command cannot be run\n"
    "  127  the command does not exist\n"
    "  128+N  signal N ended the command\n";

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'}, {"fd", required_argument, NULL, 'f'},
      {"cgroup", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'V'},      {NULL, 0, NULL, 0}};
  opterr = 0;
  int output = STDERR_FILENO;
  const char *cgroup = NULL;
  for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
    if (option == 'o')
      output = openOutput(optarg);
    else if (option == 'f')
      output = parseFd(optarg);
    else if (option == 'c')
      cgroup = optarg;
    else if (answerAbout(option))
      return 0;
    else
      return usageError(refused(argv), ": unknown option, or an option without its value");
  }
  char **command = argv + optind;
  if (!*command)
    return usageError("", "no command was given");
  if (cgroup)
    enterCgroup(cgroup);

  int channel[2];
  if (pipe2(channel, O_CLOEXEC) < 0)
    fail(EXIT_USAGE, "pipe", "cannot be made", errno);
  struct sigaction oldActions[HANDLED_SIGNALS];
  sigset_t oldMask;
  takeSignals(oldActions, &oldMask);
  pid_t child = fork();
  if (child < 0)
    fail(EXIT_USAGE, *command, "cannot fork", errno);
  if (child == 0) {
    giveSignalsBack(oldActions, &oldMask);
    struct Message message = {nowNs(), 0};
    if (write(channel[1], &message, sizeof message) == sizeof message)
      execvp(*command, command);
    message.error = errno;
    if (write(channel[1], &message, sizeof message) < 0)
      _exit(EXIT_USAGE);
    _exit(EXIT_NOT_EXECUTABLE);
  }
  commandPid = child;
  sigprocmask(SIG_SETMASK, &oldMask, NULL);
  close(channel[1]);

  int status;
  struct rusage use;
  while (wait4(child, &status, 0, &use) < 0)
    if (errno != EINTR)
      fail(EXIT_USAGE, *command, "cannot be waited for", errno);
  int64_t endNs = nowNs();

  struct Message started = {0, 0}, failed = {0, 0};
  if (read(channel[0], &started, sizeof started) != sizeof started)
    fail(EXIT_USAGE, *command, "ended before it started", 0);
  if (read(channel[0], &failed, sizeof failed) == sizeof failed)
    return cannotRun(*command, failed.error);
  writeLine(output, status, endNs - started.startNs, &use);
  return status_of_ended(status);
}
