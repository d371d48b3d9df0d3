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
#include "slice.h"

/* Registers what is mapped of code, of each file a slice. Returns the descriptor, or a
 * negative errno. What is mapped later is not registered, nor is anything once the program has
 * closed the descriptor, or in a forked child: the page table tells (touched_pages.h). */
int begin_exact_pages(const struct mappings *mappings, const struct slice *asked,
                      uint64_t page_size);

/* Leaves the descriptor alone if the program has another file there. */
void end_exact_pages(int fd);

#endif
