/* Asks the kernel for the ranges in a prefetch list (scripts/frontload/reading/listing.py declares
 * the format), without libc (see front.h). Nothing in a list is trusted: files are only opened for
 * reading, irregular or changed files are left alone, and a budget limits what is asked for. */
#pragma once

#include "front.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger lists are refused. */
enum { MAX_PREFETCH_LIST = 64 << 20 };

/* The kind of a file's device, which decides the gaps between two ranges that are read too: a gap
 * costs the time of its bytes, and leaving it out costs one more request. */
struct device_kind {
  char name[8];
  uint64_t max_gap; /* in bytes */
};

/* The kind of this name, or NULL. */
const struct device_kind *device_kind_named(const char *name);
/* The kind of an open file's device, by its file system and the kernel's settings of its disk. */
const struct device_kind *device_kind_of(int fd, const struct stat *status);

/* Whether all ranges of a list are in memory, judged by the places in its header lines `probe`.
 * `learns`, if given, is set if there is a line `learn` before them, which ends the look. Waits for
 * the disk only if the file system cannot do otherwise. Returns 1 or 0, or a negative errno:
 * -EBADMSG if it does not begin like a prefetch list of version 1, -ENODEV if it is not a regular
 * file, else why it cannot be read. */
int prefetch_list_is_resident(const char *path, bool *learns);

/* Whether the header of a list has a line `learn`. Waits for the disk. */
bool prefetch_list_learns(const char *path);

/* The result of asking. */
struct asked {
  unsigned files, changed, missing; /* listed; changed since recorded; missing or unreadable */
  uint64_t bytes, resident, over;   /* asked for; in memory already; beyond the budget */
  const char *problem;              /* why the list cannot be used from `line` on, or NULL */
  unsigned line;
};

/* Asks for all ranges, at most `budget` bytes, without waiting for them. `device` may be NULL.
 * `may_count`: leaves out ranges in memory, by cachestat(2), for which system call filters may
 * kill. Returns 0, or a negative errno if the list cannot be read: those above, or -EFBIG. */
int prefetch_list_ask(const char *path, const struct device_kind *device, uint64_t budget,
                      bool may_count, struct asked *asked);

/* Runs prefetch_list_ask with a budget: half of the memory that the cgroup's limits leave, at most
 * 512 MiB, and 0 while the machine is short of memory. `describe`, unless NULL, is called with the
 * result. */
void prefetch_list_ask_within_limits(const char *path, const struct device_kind *device,
                                     bool may_count,
                                     void (*describe)(int error, const struct asked *));

/* Runs prefetch_list_ask_within_limits in a detached process, in which `describe` may use only the
 * error output. Neither the caller nor the program that it becomes has a child that it does not
 * know: if there can be no such process, the caller asks itself. */
void prefetch_list_ask_apart(const char *path, const struct device_kind *device,
                             void (*describe)(int error, const struct asked *));

/* The text of a list, for callers that merge lists. */

#define PREFETCH_LIST_MAGIC "frontload-files 1\n"

/* A piece of a list: a line, without its end, or all lines that are left. */
struct line {
  const char *begin, *end;
};

/* The file of a line `file`, to which the next ranges belong. */
struct listed {
  char path[PATH_MAX];
  uint64_t size, seconds, nanoseconds;
  const char *build_id; /* in the list's text: digits, or `-` */
  size_t build_id_size;
};

/* Reads a list into memory of its own. Returns 0 or a negative errno, as prefetch_list_ask does. */
int read_list(const char *path, struct line *list);
/* Takes the next line off `rest`; false if there is none. The last line may lack its end. */
bool next_line(struct line *line, struct line *rest);
bool starts_with(const struct line *line, const char *start);
/* Takes a number of at most 18 digits off a line. */
bool take_number(struct line *line, uint64_t *number);
bool take_char(struct line *line, char c);
/* Reads a line that starts with `file`. */
bool parse_file(struct line line, struct listed *file);
bool is_range(const struct line *line);
/* Takes a range of a file that begins at `min_begin` or behind it off a line, up to the rank. */
bool parse_range(struct line *line, const struct listed *file, uint64_t min_begin,
                 struct range *range);
