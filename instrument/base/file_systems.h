/* File systems on which a store to a shared mapping may fail.
 *
 * Some file systems write every page to a new place, at any time, and need a free place before the
 * next store to that page. If the disk or a quota is full, the store raises SIGBUS, whatever blocks
 * the file has. So a store is preceded by MADV_POPULATE_WRITE, which fails instead (since Linux
 * 5.14).
 */
#pragma once

#include "system_calls.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <sys/statfs.h>

#define FRONTLOAD_BCACHEFS 0xca451a4e /* not in every version of the kernel's headers */

/* Whether an open file is on such a file system, or on overlayfs, which may hide one. */
static inline bool moves_what_it_writes(int fd) {
  struct statfs status;
  const uint32_t kind = SYS(fstatfs, fd, &status) < 0 ? 0 : (uint32_t)status.f_type;
  return kind == BTRFS_SUPER_MAGIC || kind == FRONTLOAD_BCACHEFS || kind == OVERLAYFS_SUPER_MAGIC;
}

/* Whether the page around `place` can be stored to. */
static inline bool can_store_to(const void *place) {
  for (uintptr_t page = 4096;; page *= 4) { /* of any page size */
    const int error = sys_advise((void *)((uintptr_t)place & ~(page - 1)), 1, MADV_POPULATE_WRITE);
    if (error != -EINVAL || page == 65536)
      return error != -EFAULT;
  }
}
