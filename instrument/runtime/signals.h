/* What the runtime does about the host's signals.
 *
 * While a first touch makes something (the recorder, the trace, a module, room for more events),
 * all signals are blocked that come from outside, so that a handler can neither leave in the middle
 * by longjmp, with a descriptor open, nor fork in the middle, where the child would return to what
 * is half made. Nearly all first touches make nothing, and may be interrupted anywhere.
 *
 * Signals that report a fault of the instruction at hand are left as the host has them: one that is
 * blocked would kill it, and one that the host has blocked is not the runtime's to unblock. SIGSYS
 * is among them, by which a filter of system calls (SECCOMP_RET_TRAP) hands a call to the program.
 * So its handler may run in the middle of a first touch and, if it is instrumented, come here
 * again. What tells this is the signal mask, which the kernel keeps for each thread: no program
 * blocks all signals, because the C libraries keep some for themselves.
 */
#ifndef FRONTLOAD_SIGNALS_H
#define FRONTLOAD_SIGNALS_H

#include "base/system_calls.h"

#include <stdbool.h>

static const signal_set outside_signals =
    ~(SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) |
      SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGSYS));

/* Returns what end_undisturbed needs. */
static inline signal_set begin_undisturbed(void) {
  return sys_change_blocked_signals(SIG_BLOCK, outside_signals);
}

static inline void end_undisturbed(signal_set before) {
  sys_change_blocked_signals(SIG_SETMASK, before);
}

/* Whether the thread that got this from begin_undisturbed was between the two already. */
static inline bool was_undisturbed(signal_set before) {
  const signal_set unblockable = SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP);
  return (before | unblockable | ~outside_signals) == ~(signal_set)0;
}

/* False where a filter that hands system calls to a handler would kill the program instead, as it
 * does while the handler's signal is blocked. Such filters are about calls that name a file. */
static inline bool may_name_files(void) {
  const signal_set blocked = sys_change_blocked_signals(SIG_BLOCK, 0);
  return !(blocked & SIGNAL_BIT(SIGSYS)) || !sys_has_handler(SIGSYS);
}

#endif
