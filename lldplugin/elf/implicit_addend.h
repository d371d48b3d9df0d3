// Addends that are not in the relocation.
//
// A relocation of SHT_REL has its addend in the bytes of the section, where it is applied: on i386,
// 32-bit ARM and MIPS. A reference to a string or constant often names only its section, and the
// addend tells which one is meant.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <cstdint>

namespace frontload {

/// The addend of a relocation of this type (R_386_32, R_ARM_ABS32, ...) for a machine (EM_386, ...)
/// that is applied to the beginning of `bytes`. 0 for addends of less than a word, or spread over
/// the bits of an instruction, except in ARM's MOVW and MOVT: assemblers write them only with
/// symbols of the exact place. Also 0 if `bytes` ends too early.
int64_t readImplicitAddend(uint16_t machine, uint32_t type, llvm::StringRef bytes,
                           llvm::endianness byteOrder);

} // namespace frontload
