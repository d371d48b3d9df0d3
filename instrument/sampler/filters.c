/* Reads /proc/self/status. See filters.h. */
#include "filters.h"

#include "base/text.h"

#include <sys/prctl.h>

#ifndef MADV_WIPEONFORK /* not every libc has it */
#define MADV_WIPEONFORK 18
#endif

/* A number that grows with each filter, or -1 if the text does not tell. Since Linux 5.9 there is
 * the number of filters beside the mode: 0, 1 (strict) or 2 (filters). */
static long filters_in(const char *text) {
  long found = -1;
  for (; *text; ++text) {
    const char *value = after(text, "\nSeccomp:\t");
    if (!value)
      value = after(text, "\nSeccomp_filters:\t");
    if (!value)
      continue;
    long number = 0;
    for (; *value >= '0' && *value <= '9'; ++value)
      number = number * 10 + (*value - '0');
    found = (found < 0 ? 0 : found) + number;
  }
  return found;
}

/* A kernel that knows no filters has no mode, either. */
static bool is_filtered(void) {
  const long mode = system_call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
  return mode != 0 && mode != -EINVAL;
}

void begin_filters(struct filters *filters) {
  filters->thread = sys_gettid();
  filters->is_first = sys_map_memory(sizeof *filters->is_first);
  if (is_error(filters->is_first) ||
      sys_advise(filters->is_first, sizeof *filters->is_first, MADV_WIPEONFORK) != 0)
    filters->is_first = NULL;
  else
    *filters->is_first = true;
  filters->at_start = -1;
  keep_open(&filters->status, "/proc/self/status");
  /* Not by read(): it is to begin at the beginning. */
  const long size = sys_pread(filters->status.fd, filters->text, sizeof filters->text - 1, 0);
  if (size > 0) {
    filters->text[size] = '\0';
    filters->at_start = filters_in(filters->text);
  }
  if (filters->at_start < 0)
    filters->at_start = is_filtered();
}

bool has_new_filter(struct filters *filters) {
  const int there = look_for_kept(&filters->status);
  if (there != 0 && there != -EBADF)
    return true; /* who else would refuse that? */
  const bool is_first = filters->is_first && *filters->is_first;
  long now = -1;
  if (there == 0) {
    const size_t room = sizeof filters->text - 1;
    const long size = is_first ? sys_read(filters->status.fd, filters->text, room)
                               : sys_pread(filters->status.fd, filters->text, room, 0);
    if (size < 0 && size != -ESRCH) /* the parent has ended */
      return true;
    filters->text[size < 0 ? 0 : size] = '\0';
    now = filters_in(filters->text);
  }
  if (now > filters->at_start)
    return true;
  if (is_first && now >= 0 && sys_gettid() == filters->thread)
    return false;
  return filters->at_start == 0 && is_filtered();
}

void end_filters(struct filters *filters) {
  close_kept(&filters->status);
  if (filters->is_first)
    sys_unmap(filters->is_first, sizeof *filters->is_first);
}
