/* The hooks: functions that gcc and clang insert calls to at the start and end of each function.
 *
 * Nearly every call finds its function touched already, so that is what the first lines are for:
 * the cache gives the module of the address's page, and one bit of the module's set says the rest.
 * Everything else is kept out of line, in three steps that get rarer and slower: the cache does not
 * have the module; the function was not touched before; nothing was recorded before.
 */
#include "frontload.h"
#include "runtime.h"
#include "system_calls.h"

#define HOOK __attribute__((visibility("default")))
#define OUT_OF_LINE __attribute__((noinline, cold))

struct recorder *frontload_recorder;

/* Signals that report a fault of the instruction at hand kill a program that blocks them. SIGSYS is
 * among them: programs use it to make system calls on behalf of a seccomp filter. */
static const signal_set synchronous_signals = SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) |
                                              SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) |
                                              SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGSYS);

static bool is_touched(struct module *module, size_t offset) {
  return __atomic_load_n(touched_word(module, offset), __ATOMIC_RELAXED) & touched_bit(offset);
}

/* True for the one caller that came first. */
static bool touch(struct module *module, size_t offset) {
  const uint64_t bit = touched_bit(offset);
  return !(__atomic_fetch_or(touched_word(module, offset), bit, __ATOMIC_RELAXED) & bit);
}

static void record(struct recorder *recorder, uintptr_t address) {
  struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  if (!session && !(session = frontload_open_session(recorder)))
    return;
  /* A child of vfork runs in its parent's memory, where nothing is its own. (If it is the child
   * that makes the first touch of all, it is taken for the parent; nothing tells them apart.) */
  if (sys_getpid() != session->pid)
    return;

  struct object object;
  if (!frontload_find_object(address, &object) || address - object.start >= object.size)
    return; /* code that somebody wrote into memory of his own */
  struct module *module = frontload_find_module(recorder, session, &object);
  if (!module) {
    frontload_count_dropped(session); /* at every call: nothing remembers which came first */
    return;
  }
  if (touch(module, address - object.start))
    frontload_append_event(session, module, address - object.bias);
  __atomic_store_n(cache_entry(recorder, address), module, __ATOMIC_RELEASE);
}

/* With signals blocked, so that a handler can neither leave in the middle by longjmp, with a
 * descriptor open, nor fork in the middle, where the child would return to mappings it does not
 * have; and so that the first touches in a handler come after the one it interrupted. */
static OUT_OF_LINE void first_touch(uintptr_t address) {
  signal_set before = sys_set_blocked_signals(~synchronous_signals);
  struct recorder *recorder = __atomic_load_n(&frontload_recorder, __ATOMIC_ACQUIRE);
  if (!recorder)
    recorder = frontload_start_recorder();
  if (is_recording(recorder))
    record(recorder, address);
  sys_set_blocked_signals(before);
}

static OUT_OF_LINE void search(uintptr_t address) {
  struct recorder *recorder = __atomic_load_n(&frontload_recorder, __ATOMIC_ACQUIRE);
  if (recorder == NOT_RECORDING)
    return;
  for (size_t i = 0; recorder && i < MODULE_LIMIT; ++i) {
    struct module *module = __atomic_load_n(&recorder->modules[i], __ATOMIC_ACQUIRE);
    if (!module)
      break;
    size_t offset = address - __atomic_load_n(&module->start, __ATOMIC_RELAXED);
    if (offset >= module->size)
      continue;
    __atomic_store_n(cache_entry(recorder, address), module, __ATOMIC_RELEASE);
    if (is_touched(module, offset))
      return;
    break;
  }
  first_touch(address);
}

static inline __attribute__((always_inline)) void enter(uintptr_t address) {
  struct recorder *recorder = __atomic_load_n(&frontload_recorder, __ATOMIC_ACQUIRE);
  if (recorder == NOT_RECORDING)
    return;
  if (recorder) {
    struct module *module = __atomic_load_n(cache_entry(recorder, address), __ATOMIC_ACQUIRE);
    if (module) {
      size_t offset = address - __atomic_load_n(&module->start, __ATOMIC_RELAXED);
      if (offset < module->size && is_touched(module, offset))
        return;
    }
  }
  search(address);
}

HOOK void __cyg_profile_func_enter(void *function, void *call_site);
HOOK void __cyg_profile_func_exit(void *function, void *call_site);
HOOK void __cyg_profile_func_enter_bare(void);

void __cyg_profile_func_enter(void *function, void *call_site) {
  (void)call_site;
  enter((uintptr_t)function);
}

void __cyg_profile_func_exit(void *function, void *call_site) {
  (void)function;
  (void)call_site;
}

/* The return address may lie behind the function, when the call is its last instruction; the byte
 * before it is always inside. */
void __cyg_profile_func_enter_bare(void) { enter((uintptr_t)__builtin_return_address(0) - 1); }

static void end_recording(void) {
  struct recorder *recorder = __atomic_load_n(&frontload_recorder, __ATOMIC_ACQUIRE);
  if (is_recording(recorder)) {
    struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
    if (session && sys_getpid() != session->pid)
      return; /* a child of vfork does not speak for its parent */
    if (session)
      __atomic_store_n(&session->header->startup_done, 1, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&frontload_recorder, NOT_RECORDING, __ATOMIC_RELEASE);
}

HOOK void frontload_startup_done(void) {
  signal_set before = sys_set_blocked_signals(~synchronous_signals);
  end_recording();
  sys_set_blocked_signals(before);
}
