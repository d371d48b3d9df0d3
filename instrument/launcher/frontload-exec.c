/* frontload-exec: runs one command and writes its cost as one line of JSON.
 * The figures include children that the command itself waited for, as wait4(2) defines it.
 *
 * The kernel keeps the peak memory of the image that a process had before exec (ru_maxrss). So the
 * parent of a measured program has to be tiny, not Python. This one sets a floor of 0.7 MB.
 *
 * --mounts: only the command enters the mount namespace, so that it is the first to read there.
 *
 * --until-*, --for: a command that does not end is measured until it is ready (ready.h). The
 * figures cover all processes that it has started by then. These are then ended, as a person would
 * do it (process_tree.h). The command's exit status does not matter, and is reported as 0.
 */
#include "base/execute.h"
#include "base/exit_status.h"
#include "base/handed_on.h"
#include "clock.h"
#include "command_line.h"
#include "process_tree.h"
#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char toolName[] = "frontload-exec";

/* Sent by the child through a pipe that exec closes. */
struct Message {
  int64_t startNs; /* the clock just before exec */
  int error;       /* 0, or why exec failed (then a second message) */
};

/* `remedy`: what to do, or NULL. */
_Noreturn static void fail(const char *remedy, int code, const char *thing, const char *what,
                           int error) {
  fprintf(stderr, "frontload-exec: error: %s: %s%s%s\n", thing, what, error ? ": " : "",
          error ? strerror(error) : "");
  if (remedy)
    fprintf(stderr, "frontload-exec: note: %s\n", remedy);
  exit(code);
}

static int openFile(const char *path, int flags, const char *remedy, const char *what) {
  int fd = open(path, flags | O_CLOEXEC, 0666);
  if (fd < 0)
    fail(remedy, EXIT_USAGE, path, what, errno);
  return fd;
}

/* Enters the namespace, unless it is -1, and the same folder: setns(2) goes to the root. */
static bool enterMounts(int mounts) {
  char folder[PATH_MAX];
  return mounts < 0 ||
         (getcwd(folder, sizeof folder) && setns(mounts, CLONE_NEWNS) == 0 && chdir(folder) == 0);
}

static void enterCgroup(const char *folder) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/cgroup.procs", folder) >= (int)sizeof path)
    fail(NULL, EXIT_USAGE, folder, "cannot enter the cgroup", ENAMETOOLONG);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  /* "0" stands for the process that writes. */
  if (fd < 0 || write(fd, "0", 1) != 1)
    fail("give the folder of a control group that you may add processes to", EXIT_USAGE, path,
         "cannot enter the cgroup", errno);
  close(fd);
}

static int parseFd(const char *text) {
  char *end;
  errno = 0;
  long fd = strtol(text, &end, 10);
  if (errno || end == text || *end || fd < 0 || fd > INT_MAX)
    fail(NULL, EXIT_USAGE, text, "is not a descriptor number", 0);
  if (fcntl((int)fd, F_GETFD) < 0)
    fail(NULL, EXIT_USAGE, text, "is not an open descriptor", errno);
  /* The command must not inherit the descriptor: its reader would wait for the command's children.
   * 0 to 2 are the command's own, whoever reads them. */
  if (fd > 2)
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
  return (int)fd;
}

/* Signals for the command, and of children that end. They stay blocked, except in the command. */
static sigset_t awaited, originalMask;

/* Our own writes may cause SIGPIPE and SIGXFSZ, which would end us and leave the command running.
 * If SIGCHLD stayed ignored, children would disappear unseen. */
enum { ACTIONS = 3 };
static const int withAction[ACTIONS] = {SIGPIPE, SIGXFSZ, SIGCHLD};
static struct sigaction originalActions[ACTIONS];

static void takeSignals(void) {
  signals_to_hand_on(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigprocmask(SIG_BLOCK, &awaited, &originalMask);
  for (int i = 0; i < ACTIONS; ++i) {
    const struct sigaction action = {.sa_handler = withAction[i] == SIGCHLD ? SIG_DFL : SIG_IGN};
    sigaction(withAction[i], &action, &originalActions[i]);
  }
}

static void giveSignalsBack(void) {
  for (int i = 0; i < ACTIONS; ++i)
    sigaction(withAction[i], &originalActions[i], NULL);
  sigprocmask(SIG_SETMASK, &originalMask, NULL);
}

/* `command`: 0 if it has ended. */
static void handOn(pid_t command, const siginfo_t *info) {
  if (command && info->si_signo != SIGCHLD && !reaches_the_program(info))
    hand_on(command, info);
}

/* How a run ended. `status` is wait4's. `ready` names the awaited event, or is NULL; `readyNs` is
 * the time until that event, before any request. */
struct End {
  int status;
  const char *ready;
  int64_t readyNs;
};

/* Returns 0, or why the line could not be written. */
static int writeLine(int fd, const struct End *end, int64_t wallNs, const struct Cost *cost) {
  char code[16], signal[16], ready[128] = "";
  snprintf(code, sizeof code, WIFEXITED(end->status) ? "%d" : "null", WEXITSTATUS(end->status));
  snprintf(signal, sizeof signal, WIFSIGNALED(end->status) ? "%d" : "null", WTERMSIG(end->status));
  if (end->ready) {
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    struct Cost watching = {0};
    cost_add_ended(&watching, &own);
    snprintf(ready, sizeof ready,
             ", \"ready\": \"%s\", \"ready_ns\": %" PRId64 ", \"watching_us\": %" PRId64,
             end->ready, end->readyNs, watching.user_us + watching.system_us);
  }
  int size = dprintf(
      fd,
      "{\"exit_status\": %s, \"signal\": %s, \"wall_ns\": %" PRId64 ", \"user_us\": %" PRId64
      ", \"system_us\": %" PRId64 ", \"major_faults\": %" PRId64 ", \"minor_faults\": %" PRId64
      ", \"max_rss_kib\": %" PRId64 ", \"blocks_in\": %" PRId64 ", \"voluntary_switches\": %" PRId64
      ", \"involuntary_switches\": %" PRId64 "%s}\n",
      code, signal, wallNs, cost->user_us, cost->system_us, cost->major_faults, cost->minor_faults,
      cost->max_rss_kib, cost->blocks_in, cost->voluntary_switches, cost->involuntary_switches,
      ready);
  return size < 0 ? errno : 0;
}

enum {
  EXIT_TIMED_OUT = 124, /* timeout(1)'s */
  PATIENCE_MS = 5000,
  DEFAULT_TIMEOUT_MS = 60000,
  LAST_MS = 100, /* to see events that come as the command ends */
};

/* The milliseconds of a text: a number above 0 of units, of which each has `unit` milliseconds. */
static int64_t parseTime(const char *option, const char *text, int unit) {
  char *end;
  double time = strtod(text, &end) * unit;
  if (end == text || *end || !(time > 0) || time > 1e9)
    exit(usageError(option, unit == 1 ? ": not a number of milliseconds above 0"
                                      : ": not a number of seconds above 0"));
  return time > 1 ? (int64_t)time : 1;
}

static int interruption;

/* While we watch a command, some signals ask us to end it. All others are handed on. */
static void takeRequests(pid_t command) {
  static const struct timespec at_once;
  siginfo_t info;
  for (int signal; (signal = sigtimedwait(&awaited, &info, &at_once)) > 0;)
    if (signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP)
      interruption = signal;
    else
      handOn(command, &info);
}

struct Watch {
  struct Ready ready;
  const char *name;  /* of the command, in messages */
  int64_t timeoutMs; /* if the command does not end by itself */
  const char *request;
  int acknowledged; /* the command is ended after this descriptor's end of file; or -1 */
};

/* Starts the request, by a shell; returns its pid. */
static pid_t startRequest(const struct Watch *w) {
  pid_t child = fork();
  if (child == 0) {
    giveSignalsBack();
    execl("/bin/sh", "sh", "-c", w->request, (char *)NULL);
    _exit(EXIT_NOT_FOUND);
  }
  return child;
}

/* Waits for the end of the command, or ends it when it is ready. Returns our exit status. */
static int watch(const struct Watch *w, pid_t child, int64_t startNs, int output) {
  struct Cost cost = {0};
  struct End end = {0, NULL, 0};
  bool endsByItself = !ready_is_asked_for(&w->ready);
  bool hasChildren = true, hasEnded = false, isRequestOver = !w->request;
  pid_t requester = 0;
  int answer = -1;    /* the request's status, as wait4 has it */
  int64_t lastNs = 0; /* when the last process had ended */
  ready_started(startNs);
  for (;;) {
    int status;
    struct rusage use;
    pid_t ended;
    /* A command that becomes a daemon ends, and its children run on. */
    while ((ended = wait4(-1, &status, WNOHANG, &use)) > 0) {
      if (ended == requester) {
        answer = status;
        isRequestOver = true;
        continue; /* the request's cost is not the command's */
      }
      cost_add_ended(&cost, &use);
      if (ended == child) {
        end.status = status;
        hasEnded = true;
      }
    }
    hasChildren = ended == 0 && !(endsByItself && hasEnded);
    if (!hasChildren && !lastNs)
      lastNs = now_ns();
    ready_wait();
    takeRequests(hasEnded ? 0 : child);
    int64_t sinceNs;
    if (!end.ready && (end.ready = ready_has_come(&w->ready, now_ns(), &sinceNs))) {
      end.readyNs = sinceNs - startNs;
      if (w->request && (requester = startRequest(w)) < 0)
        isRequestOver = true;
    }
    if ((end.ready && isRequestOver) || interruption ||
        (!hasChildren && (endsByItself || now_ns() - lastNs >= LAST_MS * NS_PER_MS)) ||
        (!endsByItself && now_ns() - startNs >= w->timeoutMs * NS_PER_MS))
      break;
  }
  bool isInTime = end.ready && isRequestOver;
  bool isAnswered = !w->request || answer == 0;
  if (!isInTime || !isAnswered)
    end.ready = NULL;
  int64_t wallNs = (hasChildren ? now_ns() : lastNs) - startNs;
  if (end.ready && !w->request)
    wallNs = end.readyNs;
  if (!endsByItself)
    cost_add_running(&cost);
  if (end.ready)
    end.status = 0;
  else if (hasChildren && !isInTime)
    end.status = EXIT_TIMED_OUT << 8; /* as wait4 has it */
  int problem = writeLine(output, &end, wallNs, &cost);
  if (!problem && w->acknowledged >= 0 && end.ready) {
    if (output > STDERR_FILENO)
      close(output);
    struct pollfd file = {.fd = w->acknowledged, .events = POLLIN};
    char byte;
    while (!interruption && (poll(&file, 1, LAST_MS) <= 0 || read(file.fd, &byte, 1) > 0))
      takeRequests(hasEnded ? 0 : child);
  }
  if (!tree_end(PATIENCE_MS, ready_wait))
    fprintf(stderr, "frontload-exec: warning: %s: not all that it has started could be ended\n",
            w->name);
  outputs_end();
  if (problem)
    fail(NULL, EXIT_USAGE, "the result", "cannot be written", problem);
  if (interruption)
    return 128 + interruption;
  if (end.ready)
    return 0;
  if (isInTime)
    fail(NULL, 1, w->request, requester < 0 ? "cannot be run" : "the request failed", 0);
  if (endsByItself)
    return status_of_ended(end.status);
  if (hasChildren)
    fail("wait for something else, or longer: --timeout=SECONDS", EXIT_TIMED_OUT, w->name,
         "was not ready in time", 0);
  char what[64];
  int code = status_of_ended(end.status);
  snprintf(what, sizeof what, "ended before it was ready, with status %d", code);
  fail(NULL, code ? code : 1, w->name, what, 0);
}

/* Reads the child's messages. Returns the errno of a failed exec, or 0. Call this once the command
 * was executed or has ended, which closes the pipe. */
static int readMessages(int channel, const char *command, int64_t *startNs) {
  struct Message started = {0, 0}, failed = {0, 0};
  if (read(channel, &started, sizeof started) != sizeof started)
    fail(NULL, EXIT_USAGE, command, "ended before it started", 0);
  *startNs = started.startNs;
  return read(channel, &failed, sizeof failed) == sizeof failed ? failed.error : 0;
}

const char usage[] =
    "usage: frontload-exec [--output=FILE | --fd=N] [--cgroup=DIR] [--mounts=FILE] [--tty] "
    "[--until-...=...] -- COMMAND...\n";
const char help[] =
    "\n"
    "Runs a command and writes its exit status, time, faults and memory as one line of JSON, by\n"
    "default to standard error.\n"
    "\n"
    "options:\n"
    "  --output=FILE    write the line to this file\n"
    "  --fd=N           write it to this open descriptor\n"
    "  --cgroup=DIR     run the command in this control group\n"
    "  --mounts=FILE    run it in this mount namespace, such as /proc/PID/ns/mnt\n"
    "  --name=NAME      what messages call the command, if it only runs another\n"
    "  --tty            give the command a terminal of its own, without input\n"
    "  --until-entered=0xADDRESS@0xENTRY\n"
    "                   measure until it enters the function at this address of the program's\n"
    "                   file, whose own entry is the other\n"
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
                                          {"mounts", required_argument, NULL, 'm'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"name", required_argument, NULL, 'N'},
                                          {"tty", no_argument, NULL, 'T'},
                                          {"until-entered", required_argument, NULL, 'e'},
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
  int mounts = -1;
  struct Watch w = {.timeoutMs = DEFAULT_TIMEOUT_MS, .acknowledged = -1};
  for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
    if (option == 'o')
      output = openFile(optarg, O_WRONLY | O_CREAT | O_TRUNC, "choose another place with --output",
                        "cannot be written");
    else if (option == 'f')
      output = parseFd(optarg);
    else if (option == 'c')
      cgroup = optarg;
    else if (option == 'm')
      mounts = openFile(optarg, O_RDONLY, NULL, "cannot be opened");
    else if (option == 'N')
      w.name = optarg;
    else if (option == 'T')
      w.ready.has_terminal = true;
    else if (option == 'e') {
      if (!function_parse(optarg, &w.ready.function))
        return usageError(optarg, " is not 0xADDRESS@0xENTRY");
    } else if (option == 'l') {
      if (!place_parse(optarg, &w.ready.place))
        return usageError(optarg, " is not [ADDRESS:]PORT, with a numeric address");
    } else if (option == 'u') {
      w.ready.output = optarg;
      if (!*optarg || strlen(optarg) >= MAX_TEXT)
        return usageError("--until-output: ", " is empty or too long");
    } else if (option == 'F')
      w.ready.file = optarg;
    else if (option == 'i')
      w.ready.idle_ms = parseTime("--until-idle", optarg, 1);
    else if (option == 'n')
      w.ready.notify = true;
    else if (option == 's')
      w.ready.for_ms = parseTime("--for", optarg, 1000);
    else if (option == 'r')
      w.request = optarg;
    else if (option == 't')
      w.timeoutMs = parseTime("--timeout", optarg, 1000);
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
  bool watches = ready_is_asked_for(&w.ready) || w.ready.has_terminal;
  if (!w.name)
    w.name = *command;
  if (w.request && !ready_is_asked_for(&w.ready))
    return usageError("--request", ": only with --until-... or --for, which say when");
  if (cgroup)
    enterCgroup(cgroup);

  int channel[2];
  if (pipe2(channel, O_CLOEXEC) < 0)
    fail(NULL, EXIT_USAGE, "pipe", "cannot be made", errno);
  takeSignals();
  if (watches && !(tree_begin() && ready_begin(&w.ready)))
    fail(NULL, EXIT_USAGE, *command, "cannot be watched", errno);
  pid_t child = fork();
  if (child < 0)
    fail(NULL, EXIT_USAGE, *command, "cannot fork", errno);
  if (child == 0) {
    giveSignalsBack();
    bool canBeWatched = enterMounts(mounts) && (!watches || ready_enter(&w.ready));
    struct Message message = {now_ns(), 0};
    if (write(channel[1], &message, sizeof message) == sizeof message && canBeWatched)
      errno = -execute_command(command, environ, getenv("PATH"));
    message.error = errno;
    if (write(channel[1], &message, sizeof message) < 0)
      _exit(EXIT_USAGE);
    _exit(EXIT_NOT_EXECUTABLE);
  }
  close(channel[1]);

  int64_t startNs;
  if (watches) {
    int64_t heldNs = w.ready.function.address ? entered_begin(child, &w.ready.function) : 0;
    if (heldNs < 0)
      fail("frontload info tells whether there are hardware breakpoints; or wait for "
           "something else",
           EXIT_USAGE, *command, "cannot be watched for a function", errno);
    int error = readMessages(channel[0], *command, &startNs);
    return error ? cannotRun(*command, error) : watch(&w, child, startNs + heldNs, output);
  }
  int status;
  struct rusage use;
  pid_t ended;
  while ((ended = wait4(child, &status, WNOHANG, &use)) == 0) {
    siginfo_t info;
    int signal = sigwaitinfo(&awaited, &info);
    /* A terminal's SIGINT and SIGQUIT reach the command too: it decides, and is waited for. */
    if (signal > 0 && signal != SIGINT && signal != SIGQUIT)
      handOn(child, &info);
  }
  if (ended < 0)
    fail(NULL, EXIT_USAGE, *command, "cannot be waited for", errno);
  int64_t endNs = now_ns();
  /* Only now, so that this process does not run while the command starts. */
  int error = readMessages(channel[0], *command, &startNs);
  if (error)
    return cannotRun(*command, error);
  struct Cost cost = {0};
  cost_add_ended(&cost, &use);
  int problem = writeLine(output, &(struct End){.status = status}, endNs - startNs, &cost);
  if (problem)
    fail(NULL, EXIT_USAGE, "the result", "cannot be written", problem);
  return status_of_ended(status);
}
