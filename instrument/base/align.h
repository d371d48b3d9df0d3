/* Rounding up to a multiple, as ELF does for offsets and the kernel for mappings. */
#ifndef FRONTLOAD_ALIGN_H
#define FRONTLOAD_ALIGN_H

#include <stdint.h>

/* `alignment` is a power of two. */
static inline uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

#endif
