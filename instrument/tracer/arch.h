// The differences between processors: the breakpoint instruction, the program counter after it, and
// the form of calls. A port of the tracer is a port of this file and of arch.cpp.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>
#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace frontload::arch {

#if defined(__x86_64__)
constexpr std::array<uint8_t, 1> breakpoint = {0xcc}; // int3
#elif defined(__aarch64__)
constexpr std::array<uint8_t, 4> breakpoint = {0x00, 0x00, 0x20, 0xd4}; // brk #0
#else
#error "frontload-trace knows x86-64 and aarch64 only"
#endif

using Code = std::array<uint8_t, breakpoint.size()>;

/// The si_code of a SIGTRAP that a breakpoint instruction causes.
extern const int breakpointSignalCode;
/// This machine's system calls, as PTRACE_GET_SYSCALL_INFO names them.
extern const uint32_t auditArch;

/// The address of the breakpoint that a stopped thread has run into; nothing if the thread was
/// killed meanwhile.
std::optional<uint64_t> breakpointAddress(pid_t thread);

void setProgramCounter(pid_t thread, uint64_t address);

/// Watchpoints of the processor: a thread stops after it has read a byte at one of these places as
/// data. Replaces earlier ones. Does nothing on machines that have none for us.
constexpr size_t watchLimit = 2; // a processor has four, for all who ask
void watchReads(pid_t thread, llvm::ArrayRef<uint64_t> places);
/// Whether a stopped thread has read there since the last call.
bool hasReadWatched(pid_t thread);

/// Whether an instruction may begin at any address, so that entries may be inside of one.
constexpr bool hasOddPlaces = breakpoint.size() == 1;
/// The number of prefixes that an instruction begins with.
size_t prefixCount(llvm::ArrayRef<uint8_t> instruction);
/// Whether code ends as compilers end functions: with a return, a branch that does not come back,
/// or padding. The last byte of these is no prefix.
bool mayEndFunction(llvm::ArrayRef<uint8_t> code);

/// The relocations that add the load bias to an address, and that call a function for one.
extern const uint32_t relativeRelocation, resolverRelocation;

/// Calls `visit` with the target of each call and long jump with a fixed target in `code`, which
/// lies at `address`. If instructions have no fixed places (x86), bytes that only look like a jump
/// are visited too: few of them lead to the beginning of a function.
void visitBranches(llvm::ArrayRef<uint8_t> code, uint64_t address,
                   llvm::function_ref<void(uint64_t target)> visit);

} // namespace frontload::arch
