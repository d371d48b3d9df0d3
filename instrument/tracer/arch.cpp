// The registers and constants of each processor.
#include "arch.h"

#include <csignal>
#include <elf.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

using namespace frontload;

#if defined(__x86_64__)
const int arch::breakpointSignalCode = SI_KERNEL;
const uint32_t arch::auditArch = AUDIT_ARCH_X86_64;
static constexpr uint64_t pcPastBreakpoint = 1; // the trap is taken after the instruction
static auto &pcOf(user_regs_struct &registers) { return registers.rip; }
#elif defined(__aarch64__)
const int arch::breakpointSignalCode = TRAP_BRKPT;
const uint32_t arch::auditArch = AUDIT_ARCH_AARCH64;
static constexpr uint64_t pcPastBreakpoint = 0;
static auto &pcOf(user_regs_struct &registers) { return registers.pc; }
#endif

static bool transfer(__ptrace_request request, pid_t thread, user_regs_struct &registers) {
  iovec vector = {&registers, sizeof registers};
  return ptrace(request, thread, NT_PRSTATUS, &vector) == 0;
}

std::optional<uint64_t> arch::breakpointAddress(pid_t thread) {
  user_regs_struct registers;
  if (!transfer(PTRACE_GETREGSET, thread, registers))
    return std::nullopt;
  return pcOf(registers) - pcPastBreakpoint;
}

void arch::setProgramCounter(pid_t thread, uint64_t address) {
  user_regs_struct registers;
  if (!transfer(PTRACE_GETREGSET, thread, registers))
    return;
  pcOf(registers) = address;
  transfer(PTRACE_SETREGSET, thread, registers);
}
