/* File systems on which a shared mapping is less than memory.
 *
 * Some write everything to a new place, which has to be found before a page may be stored to that
 * they have written, and they write whenever they want to. Where the disk or a quota is full, such
 * a store is a SIGBUS, whatever blocks the file has. So whether a page can be stored to is asked
 * right before that, of MADV_POPULATE_WRITE: that is an error where the store would be a signal.
 * (Before Linux 5.14 nobody can tell.)
 */
#ifndef FRONTLOAD_FILE_SYSTEMS_H
#define FRONTLOAD_FILE_SYSTEMS_H

#include "system_calls.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>

#define FRONTLOAD_BCACHEFS 0xca451a4e /* not in every version of the kernel's headers */

/* Whether an open file is on such a one, or behind one that does not tell. */
static inline bool moves_what_it_writes(int fd) {
  const uint32_t kind = (uint32_t)sys_file_system(fd);
  return kind == BTRFS_SUPER_MAGIC || kind == FRONTLOAD_BCACHEFS || kind == OVERLAYFS_SUPER_MAGIC;
}

/* Of a page, given by any place in it. */
static inline bool can_store_to(const void *place) {
  for (uintptr_t page = 4096;; page *= 4) { /* of whatever size one is */
    const int error = sys_advise((void *)((uintptr_t)place & ~(page - 1)), 1, MADV_POPULATE_WRITE);
    if (error != -EINVAL || page == 65536)
      return error != -EFAULT;
  }
}

#endif
