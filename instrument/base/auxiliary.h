/* The auxiliary vector of this process (getauxval(3)), without libc. */
#ifndef FRONTLOAD_AUXILIARY_H
#define FRONTLOAD_AUXILIARY_H

#include "system_calls.h"

#include <elf.h>
#include <stdbool.h>

enum { AUXILIARY_VALUES = 64 };
enum { GET_AUXILIARY = 0x41555856 }; /* PR_GET_AUXV of linux/prctl.h, since Linux 6.4 */

struct auxiliary {
  long count;
  Elf64_auxv_t value[AUXILIARY_VALUES];
};

/* False if the kernel does not provide the vector. */
static inline bool read_auxiliary(struct auxiliary *auxiliary) {
  const long max_size = sizeof auxiliary->value;
  auxiliary->count = 0;
  /* Tried first: opening a file in /proc takes 30 us. */
  long size = system_call(SYS_prctl, GET_AUXILIARY, (long)auxiliary->value, max_size, 0, 0, 0);
  if (size <= 0) {
    const int fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
      return false;
    size = sys_read(fd, auxiliary->value, (size_t)max_size);
    sys_close(fd);
  }
  if (size > 0)
    auxiliary->count = (size < max_size ? size : max_size) / (long)sizeof *auxiliary->value;
  return auxiliary->count > 0;
}

/* The value of this type, or `otherwise` if there is none. */
static inline uint64_t auxiliary_value(const struct auxiliary *auxiliary, uint64_t type,
                                       uint64_t otherwise) {
  for (long i = 0; i < auxiliary->count; ++i)
    if (auxiliary->value[i].a_type == type)
      return auxiliary->value[i].a_un.a_val;
  return otherwise;
}

/* Whether the kernel runs this program with rights that its caller lacks: set-user-id, or file
 * capabilities, which no user id shows. True also if the vector lacks AT_SECURE. */
static inline bool is_privileged(const struct auxiliary *auxiliary) {
  return auxiliary_value(auxiliary, AT_SECURE, 1) != 0;
}

#endif
