/* All processes that a command has started, daemons included: this process is their subreaper, so
 * they stay its descendants. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Calls `visit` for each child of any thread of a process. */
void for_each_child(pid_t process, void (*visit)(pid_t child, void *argument), void *argument);

/* Some fields of /proc/PID/stat, by the names in proc_pid_stat(5): page faults, and processor time
 * in clock ticks. The names with a c count the children that the process has waited for. */
struct ProcessStat {
  char state;
  pid_t ppid;
  int64_t minflt, cminflt, majflt, cmajflt, utime, stime, cutime, cstime;
};

/* False if the process is gone. */
bool process_stat(pid_t process, struct ProcessStat *stat);

/* The cost of processes so far. */
struct Cost {
  int64_t user_us, system_us;
  int64_t major_faults, minor_faults, blocks_in, voluntary_switches, involuntary_switches;
  int64_t max_rss_kib; /* of the largest process */
};

/* Makes this process the parent of orphans. Call it before the first fork. False, with errno, if
 * the kernel has no lists of children in /proc. */
bool tree_begin(void);

/* Adds the cost of an ended child and of the children that it waited for. */
void cost_add_ended(struct Cost *cost, const struct rusage *use);
/* Adds the cost of running descendants, and of the children that they have waited for. */
void cost_add_running(struct Cost *cost);

/* The processor time of threads of running descendants, in ns; negative if one waits for a disk. */
int64_t tree_activity(void);

/* Whether a descendant has a file open that /proc/PID/fd shows as `name`. */
bool tree_has_open(const char *name);

/* Ends all descendants: SIGTERM, and SIGKILL after `patience_ms`. Reaps them, and until then calls
 * `meanwhile`, which waits for a millisecond or two. False if some are another user's. */
bool tree_end(int patience_ms, void (*meanwhile)(void));
