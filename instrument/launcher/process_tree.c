/* Looks processes up in /proc. */
#include "process_tree.h"

#include "clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  MAX_TREE = 4096,
  MAX_CONTENTS = 16384, /* of a file of /proc; more than any but a list of very many children */
  MAX_ROUNDS = 8,
  LAST_PATIENCE_MS = 1000,
};

bool tree_begin(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  return access(path, R_OK) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

/* The contents of a file of /proc, cut to `size` and zero-terminated; NULL if the file is gone. */
static char *read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return NULL;
  ssize_t part;
  size_t length = 0;
  while ((part = read(fd, text + length, size - 1 - length)) > 0)
    length += (size_t)part; /* the kernel gives a page at a time */
  close(fd);
  text[length] = 0;
  return part < 0 ? NULL : text;
}

/* The fields of a stat file behind the name, which may contain anything. The first is the state. */
static char *stat_fields(const char *path, char *text, size_t size) {
  char *end = read_text(path, text, size) ? strrchr(text, ')') : NULL;
  return end ? end + 2 : NULL;
}

bool process_stat(pid_t process, struct ProcessStat *stat) {
  static const char form[] = "%c %d %*d %*d %*d %*d %*u %" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64
                             "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64;
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  const char *fields = stat_fields(path, text, sizeof text);
  return fields && sscanf(fields, form, &stat->state, &stat->ppid, &stat->minflt, &stat->cminflt,
                          &stat->majflt, &stat->cmajflt, &stat->utime, &stat->stime, &stat->cutime,
                          &stat->cstime) == 10;
}

/* Calls `visit` for each numeric name in a folder. */
static void for_each_number(const char *folder, void (*visit)(pid_t number, void *argument),
                            void *argument) {
  DIR *open_folder = opendir(folder);
  if (!open_folder)
    return;
  for (struct dirent *entry; (entry = readdir(open_folder));) {
    char *end;
    long number = strtol(entry->d_name, &end, 10);
    if (number > 0 && *end == 0)
      visit((pid_t)number, argument);
  }
  closedir(open_folder);
}

struct Visit {
  void (*visit)(pid_t number, void *argument);
  void *argument;
};

static void visit_children(pid_t thread, void *argument) {
  const struct Visit *each = argument;
  char path[64], text[MAX_CONTENTS], *end;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", thread, thread);
  char *next = read_text(path, text, sizeof text);
  for (long pid; next && (pid = strtol(next, &end, 10), end > next); next = end)
    each->visit((pid_t)pid, each->argument);
}

void for_each_child(pid_t process, void (*visit)(pid_t child, void *argument), void *argument) {
  char path[64];
  struct stat status;
  struct Visit each = {visit, argument};
  snprintf(path, sizeof path, "/proc/%d/task", process);
  /* A folder has a link for each folder in it, and two more. */
  if (stat(path, &status) == 0 && status.st_nlink == 3)
    visit_children(process, &each);
  else
    for_each_number(path, visit_children, &each);
}

struct Found {
  pid_t pids[MAX_TREE];
  size_t count;
};

static void add_found(pid_t pid, void *argument) {
  struct Found *found = argument;
  if (found->count < MAX_TREE)
    found->pids[found->count++] = pid;
}

/* The descendants of this process. The kernel's lists may miss some while others end. */
static struct Found descendants(void) {
  struct Found found;
  found.count = 0;
  for_each_child(getpid(), add_found, &found);
  for (size_t next = 0; next < found.count; ++next)
    for_each_child(found.pids[next], add_found, &found);
  return found;
}

void cost_add_ended(struct Cost *cost, const struct rusage *use) {
  cost->user_us += use->ru_utime.tv_sec * INT64_C(1000000) + use->ru_utime.tv_usec;
  cost->system_us += use->ru_stime.tv_sec * INT64_C(1000000) + use->ru_stime.tv_usec;
  cost->major_faults += use->ru_majflt;
  cost->minor_faults += use->ru_minflt;
  cost->blocks_in += use->ru_inblock;
  cost->voluntary_switches += use->ru_nvcsw;
  cost->involuntary_switches += use->ru_nivcsw;
  if (use->ru_maxrss > cost->max_rss_kib)
    cost->max_rss_kib = use->ru_maxrss;
}

/* The number behind a word at the beginning of a line; 0 if there is none. */
static int64_t number_after(const char *text, const char *word) {
  const char *found = strstr(text, word);
  return found ? strtoll(found + strlen(word), NULL, 10) : 0;
}

static void add_running(struct Cost *cost, pid_t pid) {
  char path[64], text[MAX_CONTENTS];
  struct ProcessStat stat;
  if (!process_stat(pid, &stat))
    return;
  int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
  cost->minor_faults += stat.minflt + stat.cminflt;
  cost->major_faults += stat.majflt + stat.cmajflt;
  cost->user_us += (stat.utime + stat.cutime) * tick_us;
  cost->system_us += (stat.stime + stat.cstime) * tick_us;
  snprintf(path, sizeof path, "/proc/%d/io", pid);
  if (read_text(path, text, sizeof text))
    cost->blocks_in += number_after(text, "\nread_bytes: ") / 512;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  if (read_text(path, text, sizeof text)) {
    int64_t peak = number_after(text, "\nVmHWM:\t");
    if (peak > cost->max_rss_kib)
      cost->max_rss_kib = peak;
    cost->voluntary_switches += number_after(text, "\nvoluntary_ctxt_switches:\t");
    cost->involuntary_switches += number_after(text, "\nnonvoluntary_ctxt_switches:\t");
  }
}

void cost_add_running(struct Cost *cost) {
  struct Found found = descendants();
  for (size_t i = 0; i < found.count; ++i)
    add_running(cost, found.pids[i]);
}

struct Activity {
  pid_t pid;
  int64_t ns;
};

static void add_thread(pid_t thread, void *argument) {
  struct Activity *activity = argument;
  char path[96], text[MAX_CONTENTS];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", activity->pid, thread);
  char *fields = stat_fields(path, text, sizeof text);
  bool waits = fields && *fields == 'D';
  snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", activity->pid, thread);
  int64_t ns = read_text(path, text, sizeof text) ? strtoll(text, NULL, 10) : 0;
  activity->ns = waits || activity->ns < 0 ? -1 : activity->ns + ns;
}

int64_t tree_activity(void) {
  struct Found found = descendants();
  struct Activity activity = {0, 0};
  for (size_t i = 0; i < found.count && activity.ns >= 0; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", activity.pid = found.pids[i]);
    for_each_number(path, add_thread, &activity);
  }
  return activity.ns;
}

bool tree_has_open(const char *name) {
  struct Found found = descendants();
  for (size_t i = 0; i < found.count; ++i) {
    char folder[64], path[128], target[256];
    snprintf(folder, sizeof folder, "/proc/%d/fd", found.pids[i]);
    DIR *open_folder = opendir(folder);
    if (!open_folder)
      continue;
    bool has = false;
    for (struct dirent *entry; !has && (entry = readdir(open_folder));) {
      snprintf(path, sizeof path, "%s/%.20s", folder, entry->d_name);
      ssize_t length = readlink(path, target, sizeof target - 1);
      target[length < 0 ? 0 : length] = 0;
      has = strcmp(target, name) == 0;
    }
    closedir(open_folder);
    if (has)
      return true;
  }
  return false;
}

/* Waits for at most `patience_ms` until no child is left. Returns whether none is. */
static bool reap(int patience_ms, void (*meanwhile)(void)) {
  int64_t end = now_ns() + patience_ms * NS_PER_MS;
  for (;;) {
    pid_t ended = waitpid(-1, NULL, WNOHANG);
    if (ended < 0 && errno == ECHILD)
      return true;
    if (ended > 0)
      continue;
    if (now_ns() >= end)
      return false;
    meanwhile();
  }
}

bool tree_end(int patience_ms, void (*meanwhile)(void)) {
  struct Found found = descendants();
  for (size_t i = 0; i < found.count; ++i)
    kill(found.pids[i], SIGTERM);
  for (int round = 0; round < MAX_ROUNDS; ++round) {
    if (reap(round ? LAST_PATIENCE_MS : patience_ms, meanwhile))
      return true;
    /* Processes that ignore SIGTERM, or were started since. */
    found = descendants();
    for (size_t i = 0; i < found.count; ++i)
      kill(found.pids[i], SIGKILL);
  }
  return false;
}
