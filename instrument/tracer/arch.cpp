// The registers and constants of each processor.
#include "arch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <csignal>
#include <cstddef>
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

static bool setDebugRegister(pid_t thread, size_t number, uint64_t value) {
  return ptrace(PTRACE_POKEUSER, thread, offsetof(user, u_debugreg) + 8 * number, value) == 0;
}
static constexpr size_t debugStatus = 6, debugControl = 7;

void arch::watchReads(pid_t thread, ArrayRef<uint64_t> places) {
  uint64_t control = 0;
  if (!setDebugRegister(thread, debugControl, 0))
    return;
  for (const auto &[i, place] : enumerate(places.take_front(watchLimit)))
    if (setDebugRegister(thread, i, place)) {
      constexpr uint64_t enabled = 1, readOrWritten = 3 << 16; // one byte
      control |= enabled << 2 * i | readOrWritten << 4 * i;
    }
  setDebugRegister(thread, debugControl, control);
}

bool arch::hasReadWatched(pid_t thread) {
  long status = ptrace(PTRACE_PEEKUSER, thread, offsetof(user, u_debugreg) + 8 * debugStatus, 0);
  setDebugRegister(thread, debugStatus, 0);
  return status != -1 && (status & ((1 << watchLimit) - 1));
}

size_t arch::prefixCount(ArrayRef<uint8_t> instruction) {
  constexpr StringLiteral legacy("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3");
  return llvm::find_if(instruction,
                       [&](uint8_t byte) {
                         bool isRex = (byte & 0xf0) == 0x40;
                         return !isRex && !legacy.contains(char(byte));
                       }) -
         instruction.begin();
}

bool arch::mayEndFunction(ArrayRef<uint8_t> code) {
  uint8_t last = code.back();
  if (last == 0xc3 || last == 0xcc || last == 0x90 || last == 0x00) // ret, int3, nops
    return true;
  constexpr size_t branchSize = 5; // call, jmp; here over less than 128 MiB
  bool isNear = last < 0x08 || last >= 0xf8;
  return isNear && code.size() >= branchSize && (code[code.size() - branchSize] & 0xfe) == 0xe8;
}

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

void arch::watchReads(pid_t, ArrayRef<uint64_t>) {}
bool arch::hasReadWatched(pid_t) { return false; }
size_t arch::prefixCount(ArrayRef<uint8_t>) { return 0; }
bool arch::mayEndFunction(ArrayRef<uint8_t>) { return true; }

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
