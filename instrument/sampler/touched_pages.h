/* Which pages of a mapping the process has in its page table. */
#ifndef FRONTLOAD_TOUCHED_PAGES_H
#define FRONTLOAD_TOUCHED_PAGES_H

#include "kept_file.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes one range of addresses that are all present. Ranges come by address; some may follow each
 * other without a gap. Exact ones are registered with userfaultfd: the kernel has put nothing there
 * that was not touched, since they are (exact_pages.h). */
typedef void take_range(void *taker, uintptr_t begin, uintptr_t end, bool is_exact);

/* The page table of this process, as the kernel shows it. */
struct page_table {
  int fd;
  bool scans; /* by ranges; otherwise page by page, and not whether they are exact */
  uintptr_t page_size;
};

/* `kept` is of this process, or NULL: a process that has changed its user may not open it any more.
 * 0 or a negative errno. */
int open_page_table(struct page_table *table, const struct kept_file *kept, uintptr_t page_size);
void close_page_table(struct page_table *table);

/* Tells all from `begin` to `end`, whole pages, to `take`. False if that fails in between. */
bool touched_pages(const struct page_table *table, uintptr_t begin, uintptr_t end, take_range *take,
                   void *taker);

#endif
