// A program's action for SIGTRAP, as far as it can still be found out.
//
// A breakpoint makes the kernel forget that a program ignores SIGTRAP: the signal of a breakpoint
// cannot be ignored, so the kernel replaces SIG_IGN by the default, and a raise(SIGTRAP) later on
// kills. No stop comes before that. But the rest of the action stays as the program has set it,
// flags and all, and an exec clears it. So an action that was set, is the default now, and has
// never been a handler, was SIG_IGN. (Or it was set to the default by hand: then SIGTRAP does not
// kill a program that sends it to itself. Programs that are about to die of it have had a handler
// before.)
#ifndef FRONTLOAD_TRACER_TRAP_ACTION_H
#define FRONTLOAD_TRACER_TRAP_ACTION_H

#include <optional>
#include <sys/types.h>

namespace frontload {

enum class TrapAction { standard, ignored, handled };

/// The actions that were seen in one process.
struct TrapHistory {
  bool wasIgnored = false; // when the program began
  bool wasHandled = false;
};

/// The present action, by /proc.
TrapAction presentTrapAction(pid_t thread);

/// Whether the standard action of a thread that is about to get SIGTRAP was set by the program, and
/// not by the kernel at its exec. The thread makes a system call for that, by the instruction of
/// its last one, and keeps its registers and memory. `interruption` is its wait status, if its
/// state changed before that call was done.
bool wasTrapActionSet(pid_t thread, std::optional<int> &interruption);

} // namespace frontload

#endif
