/* frontload-exec: runs one command and writes what it cost as one line of JSON.
 *
 *   frontload-exec [--output=FILE | --fd=N] [--cgroup=FOLDER] [--until-...] -- COMMAND
 * [ARGUMENT...]
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
 *
 * --until-*, --for: a command that does not end is measured until it is ready (ready.h): the
 * figures are those of all that it has started by then, and end there. Then all of it is ended, as
 * a person would end it (process_tree.h). Its exit status does not matter, so it is told as 0.
 */
#define _GNU_SOURCE
#include "base/exit_status.h"
#include "command_line.h"
#include "process_tree.h"
#include "ready.h"

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

/* What ended a run: `status` as wait4 has it; `ready` is what the command was waited for to do, or
 * NULL. */
struct End {
  int status;
  const char *ready;
};

static void writeLine(int fd, const struct End *end, int64_t wallNs, const struct Cost *cost) {
  char code[16], signal[16], ready[96] = "";
  snprintf(code, sizeof code, WIFEXITED(end->status) ? "%d" : "null", WEXITSTATUS(end->status));
  snprintf(signal, sizeof signal, WIFSIGNALED(end->status) ? "%d" : "null", WTERMSIG(end->status));
  if (end->ready) {
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    struct Cost watching = {0};
    cost_add_ended(&watching, &own);
    snprintf(ready, sizeof ready, ", \"ready\": \"%s\", \"watching_us\": %" PRId64, end->ready,
             watching.user_us + watching.system_us);
  }
  if (dprintf(fd,
              "{\"exit_status\": %s, \"signal\": %s, \"wall_ns\": %" PRId64
              ", \"user_us\": %" PRId64 ", \"system_us\": %" PRId64 ", \"major_faults\": %" PRId64
              ", \"minor_faults\": %" PRId64 ", \"max_rss_kib\": %" PRId64
              ", \"blocks_in\": %" PRId64 ", \"voluntary_switches\": %" PRId64
              ", \"involuntary_switches\": %" PRId64 "%s}\n",
              code, signal, wallNs, cost->user_us, cost->system_us, cost->major_faults,
              cost->minor_faults, cost->max_rss_kib, cost->blocks_in, cost->voluntary_switches,
              cost->involuntary_switches, ready) < 0)
    fail(EXIT_USAGE, "the result", "cannot be written", errno);
}

enum {
  EXIT_TIMED_OUT = 124, /* timeout(1)'s */
  PATIENCE_MS = 5000,
  DEFAULT_TIMEOUT_MS = 60000,
  LAST_MS = 100, /* for what comes as a command ends, and is seen after that */
};

/* A number of seconds above 0, in milliseconds. */
static int64_t parseSeconds(const char *option, const char *text) {
  char *end;
  double seconds = strtod(text, &end);
  if (end == text || *end || !(seconds > 0) || seconds > 1e6)
    exit(usageError(option, ": not a number of seconds above 0"));
  return (int64_t)(seconds * 1000) > 0 ? (int64_t)(seconds * 1000) : 1;
}

static int64_t parseMilliseconds(const char *text) {
  char *end;
  long ms = strtol(text, &end, 10);
  if (end == text || *end || ms <= 0)
    exit(usageError("--until-idle", ": not a number of milliseconds above 0"));
  return ms;
}

static volatile sig_atomic_t interruption;
static void noteInterruption(int signal) { interruption = signal; }

/* Runs a command of a shell, as the first that is asked of the program. */
static int request(const char *command) {
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(EXIT_NOT_FOUND);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return child < 0 ? -1 : status;
}

struct Watch {
  struct Ready ready;
  int64_t timeoutMs;
  const char *request;
  int acknowledged; /* a descriptor whose end is waited for before the command is ended, or -1 */
};

/* Waits until the command is ready, and ends it. Returns the exit status of this program. */
static int watch(const struct Watch *w, const char *command, pid_t child, int64_t startNs,
                 int output) {
  struct Cost cost = {0};
  struct End end = {0, NULL};
  bool hasChildren = true;
  int64_t lastNs = 0; /* when the last process had ended */
  ready_started(&w->ready, startNs);
  for (;;) {
    int status;
    struct rusage use;
    pid_t ended;
    /* A command that becomes a daemon ends, and what it has started goes on. */
    while ((ended = wait4(-1, &status, WNOHANG, &use)) > 0) {
      cost_add_ended(&cost, &use);
      if (ended == child)
        end.status = status;
    }
    hasChildren = ended == 0;
    if (!hasChildren && !lastNs)
      lastNs = nowNs();
    end.ready = ready_poll(&w->ready, nowNs());
    if (end.ready || interruption ||
        (!hasChildren && nowNs() - lastNs >= LAST_MS * INT64_C(1000000)) ||
        nowNs() - startNs >= w->timeoutMs * INT64_C(1000000))
      break;
  }
  int problem = 0;
  if (end.ready && w->request && (problem = request(w->request)))
    end.ready = NULL;
  int64_t wallNs = (hasChildren ? nowNs() : lastNs) - startNs;
  cost_add_running(&cost);
  if (end.ready)
    end.status = 0;
  else if (hasChildren && !problem)
    end.status = EXIT_TIMED_OUT << 8; /* as wait4 has it */
  writeLine(output, &end, wallNs, &cost);
  if (w->acknowledged >= 0 && end.ready) {
    if (output > STDERR_FILENO)
      close(output);
    char byte;
    while (read(w->acknowledged, &byte, 1) > 0 || (errno == EINTR && !interruption))
      errno = 0;
  }
  if (!tree_end(PATIENCE_MS))
    fprintf(stderr, "frontload-exec: warning: %s: not all that it has started could be ended\n",
            command);
  ready_end(&w->ready);
  if (interruption)
    return 128 + interruption;
  if (end.ready)
    return 0;
  if (problem)
    fail(1, w->request, problem < 0 ? "cannot be run" : "the request failed", 0);
  if (hasChildren)
    failWith("wait for something else, or longer: --timeout=SECONDS", EXIT_TIMED_OUT, command,
             "was not ready in time", 0);
  char what[64];
  int code = status_of_ended(end.status);
  snprintf(what, sizeof what, "ended before it was ready, with status %d", code);
  fail(code ? code : 1, command, what, 0);
  return 1;
}

const char usage[] =
    "usage: frontload-exec [--output=FILE | --fd=N] [--cgroup=FOLDER] [--until-...=...] -- COMMAND "
    "[ARGUMENT...]\n";
const char help[] =
    "\n"
    "Runs a command and writes its exit status, time, faults and memory as one line of JSON, by\n"
    "default to standard error.\n"
    "\n"
    "options:\n"
    "  --output=FILE    write the line to this file\n"
    "  --fd=N           write it to this open descriptor\n"
    "  --cgroup=FOLDER  run the command in this control group\n"
    "  --until-listening=[ADDRESS:]PORT\n"
    "                   measure until the command listens there\n"
    "  --until-output=TEXT\n"
    "                   measure until it has written this to its output or error output\n"
    "  --until-file=PATH\n"
    "                   measure until this file is there\n"
    "  --until-idle=MS  measure until it has done nothing for so many milliseconds\n"
    "  --until-notify   measure until it says READY=1 to $NOTIFY_SOCKET, as to systemd\n"
    "  --for=SECONDS    measure for this time\n"
    "  --request=COMMAND\n"
    "                   when it is ready, run this by a shell, and measure to its end\n"
    "  --timeout=SECONDS\n"
    "                   give up if it is not ready by then (default 60)\n"
    "  --acknowledged-by=N\n"
    "                   do not end it before this open descriptor is at its end\n"
    "  --help           show this help\n"
    "  --version        show the version\n"
    "\n"
    "examples:\n"
    "  frontload-exec --output=cost.json -- ./app --version\n"
    "  frontload-exec --until-listening=6379 -- redis-server\n"
    "\n"
    "exit status:\n"
    "  1    the command ended before it was ready, or the request failed\n"
    "  2    something other than the command failed; otherwise the status is that of the command\n"
    "  124  the command was not ready in time\n"
    "  126  the command cannot be run\n"
    "  127  the command does not exist\n"
    "  128+N  signal N ended the command\n";

int main(int argc, char **argv) {
  static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                          {"fd", required_argument, NULL, 'f'},
                                          {"cgroup", required_argument, NULL, 'c'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"until-listening", required_argument, NULL, 'l'},
                                          {"until-output", required_argument, NULL, 'u'},
                                          {"until-file", required_argument, NULL, 'F'},
                                          {"until-idle", required_argument, NULL, 'i'},
                                          {"until-notify", no_argument, NULL, 'n'},
                                          {"for", required_argument, NULL, 's'},
                                          {"request", required_argument, NULL, 'r'},
                                          {"timeout", required_argument, NULL, 't'},
                                          {"acknowledged-by", required_argument, NULL, 'a'},
                                          {NULL, 0, NULL, 0}};
  opterr = 0;
  int output = STDERR_FILENO;
  const char *cgroup = NULL;
  struct Watch w = {.timeoutMs = DEFAULT_TIMEOUT_MS, .acknowledged = -1};
  for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
    if (option == 'o')
      output = openOutput(optarg);
    else if (option == 'f')
      output = parseFd(optarg);
    else if (option == 'c')
      cgroup = optarg;
    else if (option == 'l')
      w.ready.listening = optarg;
    else if (option == 'u')
      w.ready.output = optarg;
    else if (option == 'F')
      w.ready.file = optarg;
    else if (option == 'i')
      w.ready.idle_ms = parseMilliseconds(optarg);
    else if (option == 'n')
      w.ready.notify = true;
    else if (option == 's')
      w.ready.for_ms = parseSeconds("--for", optarg);
    else if (option == 'r')
      w.request = optarg;
    else if (option == 't')
      w.timeoutMs = parseSeconds("--timeout", optarg);
    else if (option == 'a')
      w.acknowledged = parseFd(optarg);
    else if (answerAbout(option))
      return 0;
    else
      return usageError(refused(argv), ": unknown option, or an option without its value");
  }
  char **command = argv + optind;
  if (!*command)
    return usageError("", "no command was given");
  bool watches = ready_is_asked_for(&w.ready);
  const char *problem = ready_problem(&w.ready);
  if (problem)
    return usageError(w.ready.listening ? w.ready.listening : "--until-output: ", problem);
  if (w.request && !watches)
    return usageError("--request", ": only with --until-... or --for, which say when");
  if (cgroup)
    enterCgroup(cgroup);

  int channel[2];
  if (pipe2(channel, O_CLOEXEC) < 0)
    fail(EXIT_USAGE, "pipe", "cannot be made", errno);
  struct sigaction oldActions[HANDLED_SIGNALS];
  sigset_t oldMask;
  takeSignals(oldActions, &oldMask);
  if (watches) {
    tree_begin();
    if (!ready_begin(&w.ready))
      fail(EXIT_USAGE, *command, "cannot be watched", errno);
    /* We end the command, whoever asks for it. */
    struct sigaction action = {.sa_handler = noteInterruption};
    for (int i = 0; i < HANDLED_SIGNALS; ++i)
      sigaction(handledSignals[i], &action, NULL);
  }
  pid_t child = fork();
  if (child < 0)
    fail(EXIT_USAGE, *command, "cannot fork", errno);
  if (child == 0) {
    giveSignalsBack(oldActions, &oldMask);
    if (watches)
      ready_enter(&w.ready);
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

  /* Both are there by now: the pipe is at its end when the command was executed. */
  struct Message started = {0, 0}, failed = {0, 0};
  if (watches) {
    if (read(channel[0], &started, sizeof started) == sizeof started &&
        read(channel[0], &failed, sizeof failed) != sizeof failed)
      return watch(&w, *command, child, started.startNs, output);
  }
  int status;
  struct rusage use;
  while (wait4(child, &status, 0, &use) < 0)
    if (errno != EINTR)
      fail(EXIT_USAGE, *command, "cannot be waited for", errno);
  int64_t endNs = nowNs();

  if (!watches) {
    if (read(channel[0], &started, sizeof started) != sizeof started)
      fail(EXIT_USAGE, *command, "ended before it started", 0);
    if (read(channel[0], &failed, sizeof failed) != sizeof failed)
      failed.error = 0;
  }
  if (failed.error)
    return cannotRun(*command, failed.error);
  struct Cost cost = {0};
  cost_add_ended(&cost, &use);
  writeLine(output, &(struct End){status, NULL}, endNs - started.startNs, &cost);
  return status_of_ended(status);
}
