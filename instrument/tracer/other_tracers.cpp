// Recognises these programs by their libraries, and by the two system calls that begin tracing.
#include "other_tracers.h"

#include "llvm/ADT/STLExtras.h"

#include <fstream>
#include <linux/sched.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>

using namespace llvm;
using namespace frontload;

bool frontload::mayTrace(const Program &program) {
  bool hasSanitizer = llvm::any_of(program.needed, [](StringRef library) {
    return library.contains("asan") || library.contains("lsan");
  });
  return hasSanitizer || program.hasLeakSanitizer() ||
         (program.importsPtrace() && program.isStripped());
}

std::optional<pid_t> frontload::processToLetGo(pid_t thread) {
  __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 ||
      info.op != PTRACE_SYSCALL_INFO_ENTRY || info.arch != arch::auditArch)
    return std::nullopt;
  // LeakSanitizer's tracer is such a thread, and traces all others.
  if (info.entry.nr == SYS_clone && (info.entry.args[0] & CLONE_UNTRACED))
    return processOf(thread);
  if (info.entry.nr != SYS_ptrace)
    return std::nullopt;
  switch (info.entry.args[0]) {
  case PTRACE_TRACEME:
    return processOf(thread);
  case PTRACE_ATTACH:
  case PTRACE_SEIZE:
    return processOf(info.entry.args[1]);
  default:
    return std::nullopt;
  }
}

pid_t frontload::processOf(pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  pid_t process = 0;
  for (std::string field; process == 0 && status >> field;)
    if (field == "Tgid:")
      status >> process;
  return process;
}
