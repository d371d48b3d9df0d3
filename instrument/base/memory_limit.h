/* How much memory the limits of this process's cgroups leave to it.
 *
 * A cgroup is charged for the pages that its process prefetches, and for the private copies of
 * pages with breakpoints. Near the limit, prefetched pages would push out pages of the program or
 * its neighbours, and be pushed out before use. The private copies would end the program.
 */
#pragma once

#include <stdint.h>

#define PROCESS_CGROUPS "/proc/self/cgroup"
#define CGROUP_MOUNT "/sys/fs/cgroup"

/* The bytes that are free below the tightest limit of the cgroup and its ancestors, UINT64_MAX if
 * there is no limit or it cannot be read. If less than `enough` is free, inactive file pages count
 * as free: the kernel reclaims these first.
 *
 * `process_cgroups` is PROCESS_CGROUPS and `mount` is CGROUP_MOUNT, except in tests. */
#ifdef __cplusplus
extern "C" {
#endif
uint64_t memory_left(const char *process_cgroups, const char *mount, uint64_t enough);
#ifdef __cplusplus
}
#endif
