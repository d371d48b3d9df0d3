// The registers and constants of each processor.
#include "arch.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <csignal>
#include <elf.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

using namespace llvm;
using namespace frontload;

#if defined(__x86_64__)
const int arch::breakpointSignalCode = SI_KERNEL;
const uint32_t arch::auditArch = AUDIT_ARCH_X86_64;
static constexpr uint64_t pcPastBreakpoint = 1; // the trap is taken after the instruction
static auto &pcOf(auto &registers) { return registers.rip; }
const uint32_t arch::relativeRelocation = R_X86_64_RELATIVE;
const uint32_t arch::resolverRelocation = R_X86_64_IRELATIVE;

void arch::visitBranches(ArrayRef<uint8_t> code, uint64_t address,
                         function_ref<void(uint64_t target)> visit) {
  constexpr size_t displacement = 4;
  for (size_t i = 0; i + 1 + displacement <= code.size(); ++i) {
    size_t opcode = 1;
    if (code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80) // a conditional jump
      opcode = 2;
    else if (code[i] != 0xe8 && code[i] != 0xe9) // call, jmp
      continue;
    size_t end = i + opcode + displacement;
    if (end <= code.size())
      visit(address + end + int32_t(support::endian::read32le(&code[i + opcode])));
  }
}
#elif defined(__aarch64__)
const int arch::breakpointSignalCode = TRAP_BRKPT;
const uint32_t arch::auditArch = AUDIT_ARCH_AARCH64;
static constexpr uint64_t pcPastBreakpoint = 0;
static auto &pcOf(auto &registers) { return registers.pc; }
const uint32_t arch::relativeRelocation = R_AARCH64_RELATIVE;
const uint32_t arch::resolverRelocation = R_AARCH64_IRELATIVE;

void arch::visitBranches(ArrayRef<uint8_t> code, uint64_t address,
                         function_ref<void(uint64_t target)> visit) {
  for (size_t i = 0; i + 4 <= code.size(); i += 4) {
    uint32_t instruction = support::endian::read32le(&code[i]);
    if ((instruction & 0x7c000000) == 0x14000000) // b, bl
      visit(address + i + SignExtend64<26>(instruction & 0x3ffffff) * 4);
    else if ((instruction & 0xff000010) == 0x54000000) // b.cond
      visit(address + i + SignExtend64<19>(instruction >> 5 & 0x7ffff) * 4);
  }
}
#endif

static bool getRegisters(pid_t thread, user_regs_struct &registers) {
  iovec vector = {&registers, sizeof registers};
  return ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &vector) == 0;
}

std::optional<uint64_t> arch::breakpointAddress(pid_t thread) {
  user_regs_struct registers;
  if (!getRegisters(thread, registers))
    return std::nullopt;
  return pcOf(registers) - pcPastBreakpoint;
}

void arch::setProgramCounter(pid_t thread, uint64_t address) {
  user_regs_struct registers;
  if (!getRegisters(thread, registers))
    return;
  pcOf(registers) = address;
  iovec vector = {&registers, sizeof registers};
  ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &vector);
}
