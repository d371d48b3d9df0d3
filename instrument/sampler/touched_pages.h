/* Which pages of a mapping the process has in its page table. */
#ifndef FRONTLOAD_TOUCHED_PAGES_H
#define FRONTLOAD_TOUCHED_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Takes one range of addresses that are all touched. Ranges come by address; some may follow each
 * other without a gap. */
typedef void take_range(void *taker, uintptr_t begin, uintptr_t end);

/* The page table of this process, as the kernel shows it. */
struct page_table {
  int fd;
  bool scans; /* by ranges; otherwise page by page */
  uintptr_t page_size;
};

/* False if the kernel does not show it. */
bool open_page_table(struct page_table *table, uintptr_t page_size);
void close_page_table(struct page_table *table);

/* Tells all from `begin` to `end`, whole pages, to `take`. False if that fails in between. */
bool touched_pages(const struct page_table *table, uintptr_t begin, uintptr_t end, take_range *take,
                   void *taker);

#endif
