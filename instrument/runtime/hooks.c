/* The hooks, which gcc and clang call at the start and end of each function, and the functions that
 * a program may call itself (frontload.h). */
#include "base/system_calls.h"
#include "first_touch.h"
#include "frontload.h"
#include "signals.h"

HOOK void __cyg_profile_func_enter(void *function, void *call_site);
HOOK void __cyg_profile_func_exit(void *function, void *call_site);
HOOK void __cyg_profile_func_enter_bare(void);

void __cyg_profile_func_enter(void *function, void *call_site) {
  (void)call_site;
  touch_function((uintptr_t)function);
}

void __cyg_profile_func_exit(void *function, void *call_site) {
  (void)function;
  (void)call_site;
}

/* The return address may lie behind the function, when the call is its last instruction; the byte
 * before it is always inside. */
void __cyg_profile_func_enter_bare(void) {
  touch_function((uintptr_t)__builtin_return_address(0) - 1);
}

static void end_recording(void) {
  struct recorder *recorder = __atomic_load_n(&frontload_state.recorder, __ATOMIC_ACQUIRE);
  if (is_recording(recorder)) {
    if (!frontload_is_own_process(recorder, sys_gettid()))
      return; /* a child of vfork does not speak for its parent */
    struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
    if (session && frontload_may_store(session, session->header))
      __atomic_store_n(&session->header->startup_done, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&recorder->config.has_ended, true, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&frontload_state.recorder, NOT_RECORDING, __ATOMIC_RELEASE);
}

HOOK void frontload_startup_done(void) {
  const signal_set before = begin_undisturbed();
  end_recording();
  end_undisturbed(before);
}

static void set_role(const char *role) {
  struct recorder *recorder = __atomic_load_n(&frontload_state.recorder, __ATOMIC_ACQUIRE);
  if (!recorder)
    recorder = frontload_start_recorder();
  if (!is_recording(recorder) || !frontload_is_own_process(recorder, sys_gettid()))
    return;
  struct config *config = &recorder->config;
  if (!frontload_copy_role(config->role, role)) {
    frontload_warn(config, "frontload_set_role", FRONTLOAD_NO_ROLE, 0, "the role stays as it was");
    return;
  }
  struct session *session = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  if (session && frontload_may_store(session, session->header))
    frontload_copy_role(session->header->role, role);
}

HOOK void frontload_set_role(const char *role) {
  const signal_set before = begin_undisturbed();
  set_role(role);
  end_undisturbed(before);
}
