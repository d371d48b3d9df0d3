/* Runs work in a detached process, so that the program does not wait for it: neither the caller nor
 * the program that it becomes has a child that it does not know. */
#pragma once

#include <stdbool.h>

/* Runs `work` in such a process, which keeps no descriptor but, if `keeps_stderr`, the
 * error output. False if there can be none. */
bool run_apart(const char *name, bool keeps_stderr, void (*work)(void *), void *argument);

/* The same in two steps. The first returns the number of a child that forks the process and ends,
 * or an error, or 0 if there can be none. The second waits for the end of that child, so that the
 * caller has 0.25 ms for something else in between. */
long start_apart(const char *name, bool keeps_stderr, void (*work)(void *), void *argument);
void end_start_apart(long child);

/* The same for process 1, as a container's program is: a child that wait(2) does not report, unless
 * asked for clones, or if `work` execs. It sleeps after the work until the kernel ends it with
 * process 1, as no process would reap it. False in other processes. */
bool run_beside_process_1(const char *name, bool keeps_stderr, void (*work)(void *),
                          void *argument);
