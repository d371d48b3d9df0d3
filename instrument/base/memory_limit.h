/* How much memory the limits of this process's cgroups leave to it.
 *
 * The pages that a process prefetches are charged to its cgroup, and so are those that become its
 * own when breakpoints are planted in them. Where the cgroup's limit is near, the first would push
 * out pages that the program itself needs, or pages of its neighbours, and be pushed out themselves
 * before they are used; and the second would end the program.
 */
#ifndef FRONTLOAD_MEMORY_LIMIT_H
#define FRONTLOAD_MEMORY_LIMIT_H

#include <stdint.h>

#define PROCESS_CGROUPS "/proc/self/cgroup"
#define CGROUP_MOUNT "/sys/fs/cgroup"

/* The bytes that are free below the tightest limit of the cgroup and its ancestors, UINT64_MAX if
 * there is no limit or it cannot be read. File pages that were not used lately count as free where
 * less than `enough` is: the kernel takes these first.
 *
 * `process_cgroups` says what cgroup the process is in, and `mount` is where cgroups are; tests
 * name others than those above. */
#ifdef __cplusplus
extern "C" {
#endif
uint64_t memory_left(const char *process_cgroups, const char *mount, uint64_t enough);
#ifdef __cplusplus
}
#endif

#endif
