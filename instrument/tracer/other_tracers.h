// Programs that trace programs themselves: LeakSanitizer at the end of each program that has it,
// crash handlers, debuggers.
//
// A process has one tracer. While that is us, LeakSanitizer ends with an error, and a debugger
// cannot begin. So a process is let go, and its recording ends, just before another tracer
// attaches. The system calls of programs that may trace (mayTrace) announce this.
#ifndef FRONTLOAD_TRACER_OTHER_TRACERS_H
#define FRONTLOAD_TRACER_OTHER_TRACERS_H

#include "program.h"

#include <optional>
#include <sys/types.h>

namespace frontload {

/// Whether the system calls of a program must be seen: it has LeakSanitizer, or it is stripped and
/// can call ptrace. A program with symbols is the one to be recorded. It hardly ever has more than
/// a crash handler, and would be slowed down for nothing.
bool mayTrace(const Program &program);

/// At the entry of a system call: the process that another tracer is about to trace.
std::optional<pid_t> processToLetGo(pid_t thread);

/// The process of a thread, or 0 if it has ended.
pid_t processOf(pid_t thread);

} // namespace frontload

#endif
