/* The runtime's handling of the host's signals.
 *
 * While a first touch makes something (the recorder, the trace, a module, room for more events),
 * all signals from outside are blocked. Otherwise a handler could leave in the middle by longjmp,
 * with a descriptor open, or fork in the middle, and the child would return to a half-made object.
 * Nearly all first touches make nothing, and may be interrupted anywhere.
 *
 * Signals that report a fault of the current instruction stay as the host has them: a blocked one
 * would kill the host. SIGSYS is among them, by which SECCOMP_RET_TRAP hands a call to the program.
 * So an instrumented handler of SIGSYS may come here again in the middle of a first touch. The
 * thread's signal mask tells this: all signals from outside are blocked, but SIGSTKFLT, which Linux
 * never sends and a program that blocks all signals past its C library blocks as well, is not.
 */
#pragma once

#include "base/system_calls.h"

#include <stdbool.h>

static const signal_set undisturbed_mark = SIGNAL_BIT(SIGSTKFLT);
static const signal_set outside_signals =
    ~(SIGNAL_BIT(SIGSTKFLT) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGBUS) |
      SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGSYS));

/* Returns the signal mask for end_undisturbed. */
static inline signal_set begin_undisturbed(void) {
  const signal_set before = sys_change_blocked_signals(SIG_BLOCK, outside_signals);
  if (before & undisturbed_mark)
    sys_change_blocked_signals(SIG_UNBLOCK, undisturbed_mark);
  return before;
}

static inline void end_undisturbed(signal_set before) {
  sys_change_blocked_signals(SIG_SETMASK, before);
}

/* Whether the thread was between begin_undisturbed and end_undisturbed already. */
static inline bool was_undisturbed(signal_set before) {
  const signal_set unblockable = SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP);
  return (before | unblockable | ~outside_signals) == ~(signal_set)0 &&
         !(before & undisturbed_mark);
}

/* False if a filter that hands system calls to a handler would kill the program instead, because
 * the handler's signal is blocked. Such filters are about calls that name a file. */
static inline bool may_name_files(void) {
  const signal_set blocked = sys_change_blocked_signals(SIG_BLOCK, 0);
  return !(blocked & SIGNAL_BIT(SIGSYS)) || !sys_has_handler(SIGSYS);
}
