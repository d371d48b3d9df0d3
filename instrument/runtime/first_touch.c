/* What a first touch does: finds the module, sets the bit, and appends the event.
 */
#include "first_touch.h"

#include "base/system_calls.h"
#include "signals.h"

union frontload_state frontload_state;

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

/* Where it is remembered that touches in the page of `address` are not recorded. */
static uintptr_t *foreign_entry(struct recorder *recorder, uintptr_t address, enum touch touch) {
  return touch == DATUM ? data_cache_entry(recorder, address)
                        : foreign_code_entry(recorder, address);
}

static void append(struct session *session, struct module *module, const struct object *object,
                   uintptr_t address, enum touch touch, uint32_t thread) {
  struct bit bit;
  if (!find_bit(module, address, touch, &bit) || !set(bit))
    return;
  if (touch == DATUM) {
    address = (address - object->bias) & ~(uintptr_t)(FRONTLOAD_GRANULE - 1);
    frontload_append_event(session, module, FRONTLOAD_DATA, address, thread);
    return;
  }
  if (touch == FUNCTION_BODY) {
    uintptr_t start = frontload_function_start(object, address);
    if (start != address && find_bit(module, start, touch, &bit) && !set(bit))
      return; /* another hook of the function was here */
    address = start;
  }
  frontload_append_event(session, module, FRONTLOAD_FUNCTION, address - object->bias, thread);
}

bool frontload_is_own_process(struct recorder *recorder, uint32_t thread) {
  uint32_t owner = __atomic_load_n(&recorder->pid, __ATOMIC_RELAXED);
  if (owner == thread)
    return true; /* the first thread of a process has its id */
  uint32_t *known = &recorder->own_threads[thread % OWN_THREADS_SIZE];
  if (__atomic_load_n(known, __ATOMIC_RELAXED) == thread)
    return true;
  const uint32_t pid = sys_getpid();
  const bool is_first = !owner && __atomic_compare_exchange_n(&recorder->pid, &owner, pid, false,
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (is_first || owner == pid) {
    __atomic_store_n(known, thread, __ATOMIC_RELAXED);
    return true;
  }
  if (owner == recorder->config.first_pid || owner == sys_getppid())
    return false;
  /* It was a child of vfork that came first, and it is gone. Its trace is the parent's now. */
  __atomic_store_n(&recorder->pid, pid, __ATOMIC_RELAXED);
  struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  if (session)
    __atomic_store_n(&session->header->pid, pid, __ATOMIC_RELAXED);
  return true;
}

/* `may_wait`: see frontload_find_object. */
static void record(struct recorder *recorder, uintptr_t address, enum touch touch, bool may_wait) {
  struct object object;
  if (!frontload_find_object(address, &object, may_wait)) {
    if (touch == DATUM)
      frontload_set_foreign(recorder, data_cache_entry(recorder, address), address);
    return;
  }
  if (touch != DATUM && address - object.start >= object.size) {
    /* Code that somebody wrote into memory of his own: the module stays where it is. */
    __atomic_store_n(foreign_code_entry(recorder, address), foreign_page(address),
                     __ATOMIC_RELEASE);
    return;
  }

  const uint32_t thread = sys_gettid();
  if (!frontload_is_own_process(recorder, thread))
    return;
  struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  if (!session && !(session = frontload_open_session(recorder)))
    return;

  struct module *module = frontload_find_module(recorder, session, &object);
  if (!module) {
    /* Nothing tells which of the page's touches come first: one is counted for all of them. */
    frontload_count_dropped(session);
    frontload_set_foreign(recorder, foreign_entry(recorder, address, touch), address);
    return;
  }
  append(session, module, &object, address, touch, thread);
  remember(recorder, module, address, touch);
}

static void first_touch(uintptr_t address, enum touch touch) {
  const signal_set before = begin_undisturbed();
  if (was_undisturbed(before))
    return; /* a handler of what a first touch does; its functions are recorded when called again */
  struct recorder *recorder = __atomic_load_n(&frontload_state.recorder, __ATOMIC_ACQUIRE);
  if (!recorder)
    recorder = frontload_start_recorder();
  if (is_recording(recorder)) {
    if (__atomic_load_n(&recorder->config.has_ended, __ATOMIC_RELAXED)) /* by another copy */
      __atomic_store_n(&frontload_state.recorder, NOT_RECORDING, __ATOMIC_RELEASE);
    else
      record(recorder, address, touch, before == 0);
  }
  end_undisturbed(before);
}

__attribute__((noinline, cold)) void frontload_touch_slowly(uintptr_t address, enum touch touch) {
  struct recorder *recorder = __atomic_load_n(&frontload_state.recorder, __ATOMIC_ACQUIRE);
  if (recorder == NOT_RECORDING)
    return;
  if (recorder && touch != DATUM &&
      __atomic_load_n(foreign_code_entry(recorder, address), __ATOMIC_RELAXED) ==
          foreign_page(address))
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
  if (!recorder || found || !frontload_is_foreign(address))
    first_touch(address, touch);
  else if (touch == DATUM)
    frontload_set_foreign(recorder, data_cache_entry(recorder, address), address);
  /* Else the next call asks again: resolvers of IFUNCs run before their library is known. */
}
