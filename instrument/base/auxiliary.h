/* What the kernel tells a program when it starts it (getauxval(3)), without libc. */
#ifndef FRONTLOAD_AUXILIARY_H
#define FRONTLOAD_AUXILIARY_H

#include "system_calls.h"

#include <elf.h>
#include <stdbool.h>

enum { AUXILIARY_VALUES = 64 };

struct auxiliary {
  long count;
  Elf64_auxv_t value[AUXILIARY_VALUES];
};

/* False if the kernel does not tell. */
static inline bool read_auxiliary(struct auxiliary *auxiliary) {
  auxiliary->count = 0;
  const int fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  const long size = sys_read(fd, auxiliary->value, sizeof auxiliary->value);
  sys_close(fd);
  auxiliary->count = size > 0 ? size / (long)sizeof *auxiliary->value : 0;
  return auxiliary->count > 0;
}

/* The value of this type, or another one where there is none. */
static inline uint64_t auxiliary_value(const struct auxiliary *auxiliary, uint64_t type,
                                       uint64_t otherwise) {
  for (long i = 0; i < auxiliary->count; ++i)
    if (auxiliary->value[i].a_type == type)
      return auxiliary->value[i].a_un.a_val;
  return otherwise;
}

/* Whether the kernel runs this program with rights that its caller has not (set-user-id, file
 * capabilities). Ids would not tell of capabilities. Not to be told counts as yes. */
static inline bool is_privileged(const struct auxiliary *auxiliary) {
  return auxiliary_value(auxiliary, AT_SECURE, 1) != 0;
}

#endif
