// Programs that trace programs themselves: LeakSanitizer at the end of each program that has it,
// crash handlers, debuggers.
//
// A process has one tracer. While it is us, LeakSanitizer ends with an error, and a debugger cannot
// begin. So a process is let go, and its recording ends, just before another wants to trace it.
// That is seen by the system calls of programs that look as if they might.
#ifndef FRONTLOAD_TRACER_OTHER_TRACERS_H
#define FRONTLOAD_TRACER_OTHER_TRACERS_H

#include "program.h"

#include <optional>
#include <sys/types.h>

namespace frontload {

/// Whether the system calls of such a program must be seen: it has LeakSanitizer, or it is a
/// stripped one that can call ptrace. One with symbols is the one that is to be recorded. It would
/// be slowed down for nothing, since it hardly ever has more than a crash handler.
bool mayTrace(const Program &program);

/// At the entry of a system call: the process that is to be traced by somebody else from then on.
std::optional<pid_t> processToLetGo(pid_t thread);

/// The process of a thread, or 0 if it has ended.
pid_t processOf(pid_t thread);

} // namespace frontload

#endif
