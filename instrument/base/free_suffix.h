/* Finds a free name among NAME.1, NAME.2... in few steps. Thousands may be taken: in each of a
 * thousand containers, the program was process 1.
 *
 * Searches leave no gaps, so doubling and then halving finds the first free number, and the numbers
 * stay small and in order.
 *
 *     struct free_suffix search = FREE_SUFFIX;
 *     while ((suffix = free_suffix_next(&search)) != 0)
 *       if free_suffix_is_wanted(&search, suffix): create it, in a way that fails if it is there
 *       else: look whether it is there
 *       free_suffix_saw(&search, suffix, whether it was there)
 */
#ifndef FRONTLOAD_FREE_SUFFIX_H
#define FRONTLOAD_FREE_SUFFIX_H

#include <stdbool.h>
#include <stdint.h>

struct free_suffix {
  uint32_t taken; /* the largest seen taken, or 0 */
  uint32_t free;  /* the smallest seen free, or 0 */
  uint32_t step;
  uint32_t steps_left; /* ends a race against others that take each free name */
};

#define FREE_SUFFIX {0, 0, 1, 10000}

/* The suffix to try next; 0: give up. */
static inline uint32_t free_suffix_next(struct free_suffix *search) {
  if (search->steps_left-- == 0 || search->step > UINT32_MAX / 4)
    return 0;
  return search->free ? search->taken + (search->free - search->taken + 1) / 2
                      : search->taken + search->step;
}

static inline bool free_suffix_is_wanted(const struct free_suffix *search, uint32_t suffix) {
  return suffix == search->taken + 1;
}

static inline void free_suffix_saw(struct free_suffix *search, uint32_t suffix, bool is_taken) {
  if (!is_taken) {
    search->free = suffix;
    return;
  }
  search->taken = suffix;
  if (suffix == search->free) { /* another process was faster */
    search->free = 0;
    search->step = 1;
  } else if (!search->free) {
    search->step *= 2;
  }
}

#endif
