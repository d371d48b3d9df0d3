/* Has the kernel map each page of the program's files only when it is touched.
 *
 * When a page is touched that the page table lacks, Linux maps its neighbours in a window of 64 KiB
 * as well ("fault-around"), and then nobody can tell which of them was touched. It does not do that
 * in mappings that are registered with userfaultfd(2), where it would break a promise to whoever
 * listens there (uffd_disable_fault_around in the kernel). UFFD_FEATURE_WP_ASYNC, since Linux 6.7,
 * allows any mapping, wants no listener, and never stops the program; with UFFD_USER_MODE_ONLY it
 * needs no rights. What it costs is one minor fault for each page that is touched, while it lasts.
 */
#ifndef FRONTLOAD_EXACT_PAGES_H
#define FRONTLOAD_EXACT_PAGES_H

#include "mappings.h"

#include <stdbool.h>
#include <stdint.h>

/* The files that are registered, until end_exact_pages. */
struct exact_pages {
  int fd; /* negative: none */
  unsigned file_count;
  struct {
    uint64_t device, inode;
  } file[32];
};

void begin_exact_pages(struct exact_pages *exact, const struct mappings *mappings);

/* Whether the mappings are registered still: the program may have closed the descriptor, as some
 * close all, and have another file there. In a child that was forked they are not. */
bool exact_pages_last(const struct exact_pages *exact);

/* Whether all of a file was registered. */
bool has_exact_pages(const struct exact_pages *exact, const struct mapped_file *file);

void end_exact_pages(struct exact_pages *exact);

#endif
