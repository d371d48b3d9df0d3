// The registers and constants of each processor.
#include "arch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <cerrno>
#include <csignal>
#include <elf.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

using namespace llvm;
using namespace frontload;

#if defined(__x86_64__)
const int arch::breakpointSignalCode = SI_KERNEL;
const uint32_t arch::auditArch = AUDIT_ARCH_X86_64;
static constexpr uint64_t pcPastBreakpoint = 1; // the trap is taken after the instruction
static auto &pcOf(auto &registers) { return registers.rip; }
static constexpr uint64_t systemCall = 0x050f, systemCallSize = 2;
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

uint64_t arch::unusedStack(const Registers &registers) {
  constexpr uint64_t redZone = 128;
  return (registers.rsp - redZone) & ~uint64_t(15);
}

void arch::setSystemCall(pid_t thread, Registers registers, uint64_t number,
                         const std::array<uint64_t, 4> &arguments) {
  registers.rip -= systemCallSize;
  registers.rax = number;
  registers.orig_rax = -1; // the kernel must not restart an interrupted call now
  registers.rdi = arguments[0];
  registers.rsi = arguments[1];
  registers.rdx = arguments[2];
  registers.r10 = arguments[3];
  setRegisters(thread, registers);
}

std::optional<uint64_t> arch::shortJumpTarget(ArrayRef<uint8_t> code, uint64_t address) {
  if (code.size() < 2 || (code[0] != 0xeb && (code[0] & 0xf0) != 0x70)) // jmp, a condition
    return std::nullopt;
  return address + 2 + int8_t(code[1]);
}
#elif defined(__aarch64__)
const int arch::breakpointSignalCode = TRAP_BRKPT;
const uint32_t arch::auditArch = AUDIT_ARCH_AARCH64;
static constexpr uint64_t pcPastBreakpoint = 0;
static auto &pcOf(auto &registers) { return registers.pc; }
static constexpr uint64_t systemCall = 0xd4000001, systemCallSize = 4; // svc #0
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

uint64_t arch::unusedStack(const Registers &registers) { return registers.sp & ~uint64_t(15); }

void arch::setSystemCall(pid_t thread, Registers registers, uint64_t number,
                         const std::array<uint64_t, 4> &arguments) {
  int none = -1; // the kernel must not restart an interrupted call now
  iovec vector = {&none, sizeof none};
  ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &vector);
  registers.pc -= systemCallSize;
  registers.regs[8] = number;
  llvm::copy(arguments, registers.regs);
  setRegisters(thread, registers);
}

std::optional<uint64_t> arch::shortJumpTarget(ArrayRef<uint8_t>, uint64_t) { return std::nullopt; }
#endif

bool arch::getRegisters(pid_t thread, Registers &registers) {
  iovec vector = {&registers, sizeof registers};
  return ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &vector) == 0;
}

bool arch::setRegisters(pid_t thread, const Registers &registers) {
  iovec vector = {const_cast<Registers *>(&registers), sizeof registers};
  return ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &vector) == 0;
}

bool arch::isPastSystemCall(pid_t thread, const Registers &registers) {
  errno = 0;
  long word = ptrace(PTRACE_PEEKDATA, thread, pcOf(registers) - systemCallSize, nullptr);
  return errno == 0 && (uint64_t(word) & ((uint64_t(1) << 8 * systemCallSize) - 1)) == systemCall;
}

std::optional<uint64_t> arch::breakpointAddress(pid_t thread) {
  Registers registers;
  if (!getRegisters(thread, registers))
    return std::nullopt;
  return pcOf(registers) - pcPastBreakpoint;
}

void arch::setProgramCounter(pid_t thread, uint64_t address) {
  Registers registers;
  if (!getRegisters(thread, registers))
    return;
  pcOf(registers) = address;
  setRegisters(thread, registers);
}
