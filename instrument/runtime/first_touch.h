/* The path of a touch that is not the first, as nearly every touch is: inlined into each hook.
 *
 * A cache gives the module of the address's page, and one bit of the module's set tells whether the
 * address was touched. Everything else is kept out of line, in three steps that get rarer and
 * slower: the cache does not have the module; the address was not touched before; nothing was
 * recorded before.
 */
#pragma once

#include "runtime.h"

#define HOOK __attribute__((visibility("default")))
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* The thing whose address a hook gets. */
enum touch { FUNCTION /* its start, or an address inside of it */, DATUM };

/* first_touch.c: records the touch if it is the first. */
void frontload_touch_slowly(uintptr_t address, enum touch touch);

/* One bit of a first-touch set. */
struct bit {
  uint64_t *word;
  uint64_t mask;
};

/* Finds the bit of an address; false if the address is not the module's. The places of the sets
 * follow from the module's own, and are not read from it: a handler that forks may return, in the
 * child, to the middle of this, where the module has been wiped. */
static ALWAYS_INLINE bool find_bit(struct module *module, uintptr_t address, enum touch touch,
                                   struct bit *bit) {
  size_t offset = address - __atomic_load_n(&module->start, __ATOMIC_RELAXED);
  if (touch == DATUM) {
    offset += module->before;
    if (offset >= module->loaded_size)
      return false;
    bit->word = (uint64_t *)module - 1 - offset / FRONTLOAD_GRANULE / 64;
    bit->mask = UINT64_C(1) << offset / FRONTLOAD_GRANULE % 64;
  } else {
    if (offset >= module->size)
      return false;
    bit->word = (uint64_t *)((unsigned char *)module + TOUCHED_OFFSET) + offset / 64;
    bit->mask = UINT64_C(1) << offset % 64;
  }
  return true;
}

static ALWAYS_INLINE bool is_set(struct bit bit) {
  return __atomic_load_n(bit.word, __ATOMIC_RELAXED) & bit.mask;
}

static ALWAYS_INLINE bool is_touched(struct module *module, uintptr_t address, enum touch touch) {
  struct bit bit;
  return find_bit(module, address, touch, &bit) && is_set(bit);
}

static ALWAYS_INLINE void touch_function(uintptr_t address) {
  struct recorder *recorder = __atomic_load_n(&frontload_state.recorder, __ATOMIC_ACQUIRE);
  if (recorder == NOT_RECORDING)
    return;
  if (recorder) {
    struct module *module = __atomic_load_n(cache_entry(recorder, address), __ATOMIC_ACQUIRE);
    if (module && is_touched(module, address, FUNCTION))
      return;
  }
  frontload_touch_slowly(address, FUNCTION);
}

static ALWAYS_INLINE void touch_datum(uintptr_t address) {
  struct recorder *recorder = __atomic_load_n(&frontload_state.recorder, __ATOMIC_ACQUIRE);
  if (recorder == NOT_RECORDING)
    return;
  if (recorder) {
    uintptr_t entry = __atomic_load_n(data_cache_entry(recorder, address), __ATOMIC_ACQUIRE);
    if (entry == foreign_page(address))
      return;
    if (entry && !(entry & 1) && is_touched((struct module *)entry, address, DATUM))
      return;
  }
  frontload_touch_slowly(address, DATUM);
}
