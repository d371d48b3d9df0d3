/* Asks the kernel which pages are present. See touched_pages.h.
 *
 * Since Linux 6.7 one call tells, PAGEMAP_SCAN, as ranges. Before that, /proc/self/pagemap is read:
 * 8 bytes a page. mincore(2) would not do: it says what of a file is in memory, whoever has read
 * it.
 */
#include "touched_pages.h"

#include "base/system_calls.h"

#include <sys/ioctl.h>

/* Of linux/fs.h, which is older than this in many places. */
struct region {
  uint64_t begin, end, categories;
};

struct scan {
  uint64_t size, flags, begin, end, walk_end, regions, region_count, most_pages;
  uint64_t inverted, all_of, any_of, told;
};

#define SCAN _IOWR('f', 16, struct scan)

/* What is allowed is to protect pages from writes without a listener: they are registered so. */
enum { PROTECTION_ALLOWED = 1 << 0, PRESENT = 1 << 3, SWAPPED = 1 << 4 };

enum { REGIONS = 128, ENTRIES = 256 };

static bool scan(int fd, uintptr_t begin, uintptr_t end, take_range *take, void *taker) {
  struct region regions[REGIONS];
  while (begin < end) {
    struct scan question;
    question.size = sizeof question;
    question.flags = question.walk_end = question.most_pages = 0;
    question.inverted = question.all_of = 0;
    question.begin = begin;
    question.end = end;
    question.regions = (uintptr_t)regions;
    question.region_count = REGIONS;
    question.any_of = PRESENT | SWAPPED;
    question.told = PRESENT | SWAPPED | PROTECTION_ALLOWED;
    const long count = system_call(SYS_ioctl, fd, (long)SCAN, (long)&question, 0, 0, 0);
    if (count < 0 || count > REGIONS || question.walk_end <= begin)
      return false;
    for (long i = 0; i < count; ++i)
      take(taker, regions[i].begin, regions[i].end, regions[i].categories & PROTECTION_ALLOWED);
    begin = question.walk_end;
  }
  return true;
}

static bool read_entries(const struct page_table *table, uintptr_t begin, uintptr_t end,
                         take_range *take, void *taker) {
  static const uint64_t is_there = UINT64_C(3) << 62; /* present, or swapped */
  uint64_t entries[ENTRIES];
  while (begin < end) {
    const uintptr_t left = (end - begin) / table->page_size;
    const long size =
        sys_pread(table->fd, entries, (left < ENTRIES ? left : ENTRIES) * sizeof *entries,
                  begin / table->page_size * sizeof *entries);
    if (size < (long)sizeof *entries)
      return false;
    for (unsigned i = 0; i < (unsigned long)size / sizeof *entries; ++i, begin += table->page_size)
      if (entries[i] & is_there)
        take(taker, begin, begin + table->page_size, false);
  }
  return true;
}

int open_page_table(struct page_table *table, const struct kept_file *kept, uintptr_t page_size) {
  table->page_size = page_size;
  table->fd = kept && look_for_kept(kept) == 0
                  ? sys_fcntl(kept->fd, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR)
                  : sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
  if (table->fd < 0)
    return table->fd;
  struct scan nothing;
  for (unsigned i = 0; i < sizeof nothing / sizeof(uint64_t); ++i)
    ((volatile uint64_t *)&nothing)[i] = 0;
  nothing.size = sizeof nothing;
  nothing.any_of = nothing.told = PRESENT;
  table->scans = system_call(SYS_ioctl, table->fd, (long)SCAN, (long)&nothing, 0, 0, 0) >= 0;
  return 0;
}

void close_page_table(struct page_table *table) { sys_close(table->fd); }

bool touched_pages(const struct page_table *table, uintptr_t begin, uintptr_t end, take_range *take,
                   void *taker) {
  return table->scans ? scan(table->fd, begin, end, take, taker)
                      : read_entries(table, begin, end, take, taker);
}
