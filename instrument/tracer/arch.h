// What differs between processors: the breakpoint instruction, and where the program counter stands
// after it. A port of the tracer is a port of this file and of arch.cpp.
#ifndef FRONTLOAD_TRACER_ARCH_H
#define FRONTLOAD_TRACER_ARCH_H

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

/// Where the breakpoint is that a stopped thread has run into; nothing if it was killed meanwhile.
std::optional<uint64_t> breakpointAddress(pid_t thread);

void setProgramCounter(pid_t thread, uint64_t address);

} // namespace frontload::arch

#endif
