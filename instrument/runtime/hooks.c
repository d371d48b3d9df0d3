/* The hooks: functions that gcc and clang insert calls to at the start and end of each function.
 */
#include "base/system_calls.h"
#include "first_touch.h"
#include "frontload.h"

HOOK void __cyg_profile_func_enter(void *function, void *call_site);
HOOK void __cyg_profile_func_exit(void *function, void *call_site);
HOOK void __cyg_profile_func_enter_bare(void);

void __cyg_profile_func_enter(void *function, void *call_site) {
  (void)call_site;
  touch_function((uintptr_t)function, FUNCTION_START);
}

void __cyg_profile_func_exit(void *function, void *call_site) {
  (void)function;
  (void)call_site;
}

/* The return address may lie behind the function, when the call is its last instruction; the byte
 * before it is always inside. */
void __cyg_profile_func_enter_bare(void) {
  touch_function((uintptr_t)__builtin_return_address(0) - 1, FUNCTION_BODY);
}

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
