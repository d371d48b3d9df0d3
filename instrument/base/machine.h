/* The processor that this is compiled for, as ELF headers and people name it.
 *
 * Ports begin here and in system_calls.h. The numbers are those of <elf.h>, which C++ files cannot
 * include: its macros have the names of LLVM's constants.
 */
#pragma once

#if defined(__x86_64__) && !defined(__ILP32__)
#define FRONTLOAD_MACHINE 62 /* EM_X86_64 */
#define FRONTLOAD_MACHINE_NAME "x86-64"
#elif defined(__aarch64__) && !defined(__ILP32__)
#define FRONTLOAD_MACHINE 183 /* EM_AARCH64 */
#define FRONTLOAD_MACHINE_NAME "aarch64"
#elif defined(__riscv) && __riscv_xlen == 64
#define FRONTLOAD_MACHINE 243 /* EM_RISCV */
#define FRONTLOAD_MACHINE_NAME "riscv64"
#else
#error "frontload records on x86-64, AArch64 and 64-bit RISC-V Linux only"
#endif
