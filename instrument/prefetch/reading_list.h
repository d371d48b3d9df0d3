/* Asks the kernel for what a reading list says a start reads (scripts/frontload/reading/listing.py
 * declares the format).
 *
 * Nothing in a list is trusted: files are only opened for reading, those that are not regular or
 * have changed since are left alone, and no more is asked for than the budget allows. Like all that
 * is linked into the prefetcher, this uses no libc (see front.h).
 */
#ifndef FRONTLOAD_READING_LIST_H
#define FRONTLOAD_READING_LIST_H

#include "device_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger ones are refused. */
enum { LARGEST_READING_LIST = 64 << 20 };

/* Whether all of a list is in memory, as far as the places tell that it names for this (its header
 * lines `probe`). Does not wait for the disk, but where the file system cannot do otherwise.
 *
 * Returns 1 or 0, or a negative errno: -EBADMSG if it does not begin like a reading list of version
 * 1, -ENODEV if it is not a regular file, else why it cannot be read. */
int reading_list_is_resident(const char *path);

/* What came of asking. */
struct asked {
  unsigned files, changed, missing; /* named; another than recorded; not there or not readable */
  uint64_t bytes, resident, over;   /* asked for; in memory already; beyond the budget */
  const char *problem;              /* why the list cannot be used from `line` on, or NULL */
  unsigned line;
};

/* Asks for all of it, at most `budget` bytes, and does not wait for these. `device` may be NULL.
 * With `may_count`, what is in memory is left out: a system call tells that is new enough for
 * filters to kill the caller for it. Returns 0, or a negative errno if the list cannot be read:
 * those above, or -EFBIG. */
int reading_list_ask(const char *path, const struct device_kind *device, uint64_t budget,
                     bool may_count, struct asked *asked);

/* The same, of all that the memory limits of the cgroup allow (half of what they leave, and at most
 * 512 MiB), and nothing while the machine is short of memory; in a process that nobody waits for
 * and that is nobody's child, so that the caller, and the program that it is or becomes, has none
 * that it does not know. Where such a process would be ours all the same (process 1 of a
 * container), we ask ourselves; where there can be none, nobody asks.
 *
 * `describe` is called there with what reading_list_ask returned, unless it is NULL. It may use
 * nothing but the error output. */
void reading_list_ask_apart(const char *path, const struct device_kind *device,
                            void (*describe)(int error, const struct asked *));

#endif
