/* What a first touch does: finds the module, sets the bit, and appends the event.
 */
#include "first_touch.h"

#include "base/system_calls.h"

struct recorder *frontload_recorder;

/* True for the one caller that came first. */
static bool set(struct bit bit) {
  return !(__atomic_fetch_or(bit.word, bit.mask, __ATOMIC_RELAXED) & bit.mask);
}

static void remember(struct recorder *recorder, struct module *module, uintptr_t address,
                     enum touch touch) {
  if (touch == DATUM)
    __atomic_store_n(data_cache_entry(recorder, address), (uintptr_t)module, __ATOMIC_RELEASE);
  else
    __atomic_store_n(cache_entry(recorder, address), module, __ATOMIC_RELEASE);
}

static void append(struct session *session, struct module *module, const struct object *object,
                   uintptr_t address, enum touch touch) {
  struct bit bit;
  if (!find_bit(module, address, touch, &bit) || !set(bit))
    return;
  if (touch == DATUM) {
    address = (address - object->bias) & ~(uintptr_t)(FRONTLOAD_GRANULE - 1);
    frontload_append_event(session, module, FRONTLOAD_DATA, address);
    return;
  }
  if (touch == FUNCTION_BODY) {
    uintptr_t start = frontload_function_start(object, address);
    if (start != address && find_bit(module, start, touch, &bit) && !set(bit))
      return; /* another hook of the function was here */
    address = start;
  }
  frontload_append_event(session, module, FRONTLOAD_FUNCTION, address - object->bias);
}

static void record(struct recorder *recorder, uintptr_t address, enum touch touch) {
  struct object object;
  if (!frontload_find_object(address, &object)) {
    if (touch == DATUM)
      frontload_set_foreign(recorder, address);
    return;
  }
  if (touch != DATUM && address - object.start >= object.size)
    return; /* code that somebody wrote into memory of his own */

  struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  if (!session && !(session = frontload_open_session(recorder)))
    return;
  /* A child of vfork runs in its parent's memory, where nothing is its own. (If it is the child
   * that makes the first touch of all, it is taken for the parent; nothing tells them apart.) */
  if (sys_getpid() != session->pid)
    return;

  struct module *module = frontload_find_module(recorder, session, &object);
  if (!module) {
    frontload_count_dropped(session); /* nothing remembers which came first */
    if (touch == DATUM)
      frontload_set_foreign(recorder, address); /* or it would be slow each time */
    return;
  }
  append(session, module, &object, address, touch);
  remember(recorder, module, address, touch);
}

/* With signals blocked, so that a handler can neither leave in the middle by longjmp, with a
 * descriptor open, nor fork in the middle, where the child would return to mappings it does not
 * have; and so that the first touches in a handler come after the one it interrupted. */
static void first_touch(uintptr_t address, enum touch touch) {
  signal_set before = sys_set_blocked_signals(~synchronous_signals);
  struct recorder *recorder = __atomic_load_n(&frontload_recorder, __ATOMIC_ACQUIRE);
  if (!recorder)
    recorder = frontload_start_recorder();
  if (is_recording(recorder))
    record(recorder, address, touch);
  sys_set_blocked_signals(before);
}

__attribute__((noinline, cold)) void frontload_touch_slowly(uintptr_t address, enum touch touch) {
  struct recorder *recorder = __atomic_load_n(&frontload_recorder, __ATOMIC_ACQUIRE);
  if (recorder == NOT_RECORDING)
    return;
  bool found = false;
  for (size_t i = 0; recorder && !found && i < MODULE_LIMIT; ++i) {
    struct module *module = __atomic_load_n(&recorder->modules[i], __ATOMIC_ACQUIRE);
    struct bit bit;
    if (!module)
      break;
    if (!find_bit(module, address, touch, &bit))
      continue;
    found = true;
    remember(recorder, module, address, touch);
    if (is_set(bit))
      return;
  }
  if (touch == DATUM && recorder && !found && frontload_is_foreign(address))
    frontload_set_foreign(recorder, address);
  else
    first_touch(address, touch);
}
