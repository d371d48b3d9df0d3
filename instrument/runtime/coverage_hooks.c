/* The hooks of clang's -fsanitize-coverage=func,trace-pc,trace-loads,trace-stores: clang inserts
 * calls of them at the start of each function, and before each load and store of 1, 2, 4, 8 or 16
 * bytes.
 *
 * They share a file because a link with -fsanitize-coverage adds a sanitizer's runtime, with empty,
 * weak hooks of its own, but none for trace-pc. So __sanitizer_cov_trace_pc brings this file, and
 * with it the strong hooks, out of the archive.
 */
#include "first_touch.h"

static __attribute__((noinline)) void access_two_granules(uintptr_t first, uintptr_t last) {
  touch_datum(first);
  touch_datum(last);
}

static ALWAYS_INLINE void accessed(const void *data, size_t size) {
  uintptr_t address = (uintptr_t)data;
#ifdef __aarch64__
  /* The processor ignores the top byte, where allocators and sanitizers keep tags, of variables as
   * well. */
  address &= UINT64_MAX >> 8;
#endif
  if (address % FRONTLOAD_GRANULE + size > FRONTLOAD_GRANULE)
    access_two_granules(address, address + size - 1);
  else
    touch_datum(address);
}

HOOK void __sanitizer_cov_trace_pc(void);

/* See __cyg_profile_func_enter_bare. */
void __sanitizer_cov_trace_pc(void) { touch_function((uintptr_t)__builtin_return_address(0) - 1); }

#define ACCESS_HOOKS(size)                                                                         \
  HOOK void __sanitizer_cov_load##size(const void *data);                                          \
  HOOK void __sanitizer_cov_store##size(const void *data);                                         \
  void __sanitizer_cov_load##size(const void *data) { accessed(data, size); }                      \
  void __sanitizer_cov_store##size(const void *data) { accessed(data, size); }

ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)
