/* The work of a first touch: finds the module, sets the bit, and appends the event. */
#include "first_touch.h"

#include "base/system_calls.h"
#include "signals.h"

union frontload_state frontload_state;

static void remember(struct recorder *recorder, struct module *module, uintptr_t address,
                     enum touch touch) {
  if (touch == DATUM)
    __atomic_store_n(data_cache_entry(recorder, address), (uintptr_t)module, __ATOMIC_RELEASE);
  else
    __atomic_store_n(cache_entry(recorder, address), module, __ATOMIC_RELEASE);
}

/* A handler may interrupt this anywhere, and never return, or return in a child too. So the event
 * is written before its bit is set, and the loser of a race takes its event back. A reader takes
 * the first of two events. */
static void append(struct session *session, const struct module *module,
                   const struct object *object, struct bit bit, uintptr_t address, enum touch touch,
                   uint32_t thread) {
  enum frontload_record_kind kind = FRONTLOAD_FUNCTION;
  if (touch == DATUM) {
    kind = FRONTLOAD_DATA;
    address = object->bias + ((address - object->bias) & ~(uintptr_t)(FRONTLOAD_GRANULE - 1));
  }
  struct frontload_trace_slot *event =
      frontload_add_event(session, module, kind, address - object->bias, thread);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const bool is_first = !(__atomic_fetch_or(bit.word, bit.mask, __ATOMIC_RELAXED) & bit.mask);
  if (event && !is_first)
    frontload_take_back(session, event);
  else if (!event && is_first)
    frontload_count_dropped(session);
}

static uint32_t *own_thread_entry(struct recorder *recorder, uint32_t thread) {
  return &recorder->own_threads[thread % OWN_THREADS_SIZE];
}

/* The id of a process's first thread is that of the process. */
static bool is_own_thread(struct recorder *recorder, uint32_t thread) {
  return __atomic_load_n(&recorder->pid, __ATOMIC_RELAXED) == thread ||
         __atomic_load_n(own_thread_entry(recorder, thread), __ATOMIC_RELAXED) == thread;
}

bool frontload_is_own_process(struct recorder *recorder, uint32_t thread) {
  if (is_own_thread(recorder, thread))
    return true;
  uint32_t owner = __atomic_load_n(&recorder->pid, __ATOMIC_RELAXED);
  const uint32_t pid = sys_getpid();
  const bool is_first = !owner && __atomic_compare_exchange_n(&recorder->pid, &owner, pid, false,
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (is_first || owner == pid) {
    __atomic_store_n(own_thread_entry(recorder, thread), thread, __ATOMIC_RELAXED);
    return true;
  }
  if (owner == recorder->config.first_pid || owner == SYS(getppid))
    return false;
  /* The owner was a child of vfork, and is gone. Its trace is the parent's now. */
  __atomic_store_n(&recorder->pid, pid, __ATOMIC_RELAXED);
  struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  if (session && frontload_may_store(session, session->header))
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
    /* Code that the program has written into its data: the module stays where it is. */
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
    /* First touches in the page cannot be told from others: one is counted for all of them. */
    frontload_count_dropped(session);
    frontload_set_foreign(recorder,
                          touch == DATUM ? data_cache_entry(recorder, address)
                                         : foreign_code_entry(recorder, address),
                          address);
    return;
  }
  struct bit bit;
  if (find_bit(module, address, touch, &bit) && !is_set(bit))
    append(session, module, &object, bit, address, touch, thread);
  remember(recorder, module, address, touch);
}

/* Records a touch that needs no new object: no signal has to wait, and the only system call is for
 * the thread's id. Otherwise returns false. */
static bool record_plainly(struct recorder *recorder, struct module *module, struct bit bit,
                           uintptr_t address, enum touch touch) {
  struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  struct object object;
  if (!session || __atomic_load_n(&recorder->config.has_ended, __ATOMIC_RELAXED) ||
      !frontload_has_room(session) || !frontload_find_object_at_once(address, &object) ||
      !frontload_is_where(module, &object))
    return false;
  const uint32_t thread = sys_gettid();
  if (!is_own_thread(recorder, thread))
    return false;
  append(session, module, &object, bit, address, touch, thread);
  return true;
}

/* Calls record_plainly(), whose system call may have a handler that comes here again: limited to
 * AT_ONCE_LIMIT calls at once. */
static bool record_at_once(struct recorder *recorder, struct module *module, struct bit bit,
                           uintptr_t address, enum touch touch) {
  const int32_t others = __atomic_fetch_add(&recorder->at_once, 1, __ATOMIC_RELAXED);
  const bool is_recorded =
      others < AT_ONCE_LIMIT && record_plainly(recorder, module, bit, address, touch);
  __atomic_fetch_sub(&recorder->at_once, 1, __ATOMIC_RELAXED);
  return is_recorded;
}

static void first_touch(uintptr_t address, enum touch touch) {
  const signal_set before = begin_undisturbed();
  if (was_undisturbed(before))
    return; /* a handler during a first touch; its functions are recorded when called again */
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
    if (is_set(bit) || record_at_once(recorder, module, bit, address, touch))
      return;
  }
  if (!recorder || found || !frontload_is_foreign(address))
    first_touch(address, touch);
  else if (touch == DATUM)
    frontload_set_foreign(recorder, data_cache_entry(recorder, address), address);
  /* Else the next call asks again: resolvers of IFUNCs run before their library is known. */
}
