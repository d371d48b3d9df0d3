/* The role of this process in its trace: FRONTLOAD_ROLE at the program's start, or that of
 * frontload_set_role(). */
#include "base/system_calls.h"
#include "first_touch.h"
#include "frontload.h"
#include "signals.h"

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
