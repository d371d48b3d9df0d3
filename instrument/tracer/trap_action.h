// What a program has asked the kernel to do about SIGTRAP, as far as it can still be told.
//
// A breakpoint makes the kernel forget that a program ignores SIGTRAP: such a signal cannot be
// ignored, so it puts the default in the place of SIG_IGN, and a raise(SIGTRAP) later on kills. No
// stop comes before that. But the rest of the action stays as the program has set it, flags and
// all, and an exec clears it. So an action that was set, is the default now, and has never been a
// handler, was SIG_IGN. (Or it was set to the default by hand: then SIGTRAP does not kill a program
// that sends it to itself. Programs that are about to die of it have had a handler before.)
#ifndef FRONTLOAD_TRACER_TRAP_ACTION_H
#define FRONTLOAD_TRACER_TRAP_ACTION_H

#include <optional>
#include <sys/types.h>

namespace frontload {

enum class TrapAction { standard, ignored, handled };

/// What was seen of it in one process.
struct TrapHistory {
  bool wasIgnored = false; // when the program began
  bool wasHandled = false;
};

/// As the kernel has it.
TrapAction presentTrapAction(pid_t thread);

/// Whether the standard action of a thread that is about to get SIGTRAP was set by the program, and
/// not by the kernel at its exec. The thread makes a system call for that, by the instruction that
/// it has just made one with, and has all its registers and memory as before. `interruption` is how
/// its state changed meanwhile, as waitpid tells it, if it did not come that far.
bool wasTrapActionSet(pid_t thread, std::optional<int> &interruption);

} // namespace frontload

#endif
