/* Which pages of which files a command and its descendants touch, seen from outside.
 *
 * The user of a process may read its page table, /proc/PID/pagemap. Where a process touches a page,
 * the kernel also maps the pages around that are in memory (16, aligned): on x86, nothing tells
 * these from touched ones.
 *
 * Files that are read with read(2) are in no page table. A look at /proc/PID/fd shows those that
 * are open, as a file is while its reader waits for a disk. From then on, inotify reports what is
 * read in the same folder, by any process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  WATCH_PAGE = 4096, /* the unit of lists */
  WATCH_SEEN = 0x80, /* of a page's byte: touched in this start. The rest is the caller's */
};

struct seen_file {
  char *path;
  uint64_t size, seconds, nanoseconds; /* as it was when first seen */
  uint64_t page_count;
  uint8_t *pages; /* a byte for each page */
  bool mapped, read;
  char *build_id; /* the caller's */
};

struct watch {
  struct seen_file *files; /* in the order in which they were first seen */
  size_t count;
  uint64_t memory;        /* pages of mapped files that all processes have, as of the last sample */
  uint64_t growth;        /* by how many pages that has changed since the last look */
  struct watched *inside; /* watch.c */
};

/* Watches the process `command`, and its descendants. `started` is the program's path as it is
 * started, and `program` the same without links. `home`: also files in home folders that are not
 * the program's own. False if there is no memory, or no /proc. */
bool watch_begin(struct watch *watch, pid_t command, const char *started, const char *program,
                 bool home);

/* A cheap look: which processes there are, how much they have mapped, and which files are being
 * read. Returns how many processes are left. */
size_t watch_sample(struct watch *watch);

/* Looks at the page tables. */
void watch_look(struct watch *watch);

/* Watches what is read in the folder of this file from now on. */
void watch_folder_of(struct watch *watch, const char *path);

/* The end: files that were read and never mapped get their pages. */
void watch_end(struct watch *watch);

/* A regular file that has not changed since the command started, else NULL. */
struct seen_file *watch_file(struct watch *watch, const char *path);
