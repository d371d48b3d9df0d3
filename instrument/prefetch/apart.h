/* Runs work in a detached process, so that the program does not wait for it: neither the caller nor
 * the program that it becomes has a child that it does not know. */
#pragma once

#include <stdbool.h>

/* Runs `work` in such a process, which keeps no descriptor but, if `keeps_stderr`, the
 * error output. False if there can be none. */
bool run_apart(const char *name, bool keeps_stderr, void (*work)(void *), void *argument);

/* The same in two steps, for a process that shares the caller's memory. A copy of the memory would
 * cost a program 0.3 to 0.5 ms: 0.15 for the copy, the rest for pages that are copied when they are
 * written. Where the kernel has no clone3, as in Valgrind, the memory is copied.
 *
 * `argument` stays valid. The work is done once in a program, and calls have_nothing_else(). The
 * first function returns the number of a child that makes the process and ends, or an error, or 0
 * if there can be none. The second waits for the end of that child. */
long start_beside(const char *name, void (*work)(void *), void *argument);
void end_start_beside(long child);

/* Leaves this process only what it needs to ask for parts of the files that it has opened: reads of
 * these, readahead(2), sleep, priority and exit. The program may later give up rights, or be
 * attacked through its memory, which this process shares. False if the kernel has no such filter.
 */
bool have_nothing_else(void);

/* The same for process 1, as a container's program is: a child that wait(2) does not report, unless
 * asked for clones, or if `work` execs. It sleeps after the work until the kernel ends it with
 * process 1, as no process would reap it. False in other processes. */
bool run_beside_process_1(const char *name, bool keeps_stderr, void (*work)(void *),
                          void *argument);
