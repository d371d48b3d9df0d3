// The parts of a file that are certainly code.
//
// A symbol's type is not enough. Hand-written assembly marks tables as functions as well, and a
// breakpoint in a table gives a wrong result that nothing reports. So a symbol has to have a
// witness: unwind information (an FDE of .eh_frame or .debug_frame) that covers it; a call or long
// jump with a fixed target that leads to it; or the headers and relocations by which a program is
// begun and ended. A function without a witness, because it is only called by its address and was
// built without unwind information, is not recorded. That loses an event and does no harm.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Object/ELF.h"

#include <cstdint>
#include <vector>

namespace frontload {

struct CodeSection {
  uint64_t begin, end;
  llvm::ArrayRef<uint8_t> bytes;
};

/// The section with this address, or null. `sections` are sorted and do not overlap.
const CodeSection *sectionAt(llvm::ArrayRef<CodeSection> sections, uint64_t address);

/// A part of the file that claims to be code. A part that is entered at its beginning has size 1.
struct CodeRange {
  uint64_t begin, size;
};

struct KnownCode {
  llvm::BitVector claims; // which of them have a witness
  /// Of each claim, the end of the unwind information that begins where the claim does, or 0.
  std::vector<uint64_t> unwindEnds;
};

/// Which of `claims` have a witness. `claims` and `code` are sorted, and do not overlap. The file
/// is untrusted: the work is bounded by its size, or that and a logarithm.
KnownCode knownCode(const llvm::object::ELFFile<llvm::object::ELF64LE> &elf,
                    llvm::ArrayRef<CodeSection> code, llvm::ArrayRef<CodeRange> claims);

} // namespace frontload
