/* All processes that a command has started, also those that have left it (daemons): this process is
 * their subreaper, so they stay its descendants. */
#ifndef FRONTLOAD_LAUNCHER_PROCESS_TREE_H
#define FRONTLOAD_LAUNCHER_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What processes have cost so far. */
struct Cost {
  int64_t user_us, system_us;
  int64_t major_faults, minor_faults, blocks_in, voluntary_switches, involuntary_switches;
  int64_t max_rss_kib; /* of the largest */
};

/* Makes this process the parent of whoever loses its own. Before the first child. */
void tree_begin(void);

/* The descendants of this process that run: puts up to `most` into `found`, returns how many. */
size_t tree_list(pid_t *found, size_t most);
/* Only its children. Those whose parent has ended are among them. */
size_t tree_children(pid_t *found, size_t most);

/* Adds what an ended child and its own have cost. */
void cost_add_ended(struct Cost *cost, const struct rusage *use);
/* Adds what those that run have cost so far, with what they have waited for. */
void cost_add_running(struct Cost *cost);

/* How long the threads of those that run have had a processor, in ns; negative if one of them waits
 * for a disk. */
int64_t tree_activity(void);

/* Whether a descendant has a file open that /proc/PID/fd shows as `name`. */
bool tree_has_open(const char *name);

/* Ends them all: SIGTERM, and SIGKILL for what runs on after `patience_ms`. Reaps them, and calls
 * `meanwhile` again and again until that is done; it waits for a millisecond or two. False if some
 * cannot be ended: those of another user. */
bool tree_end(int patience_ms, void (*meanwhile)(void));

#endif
