// Where the instructions of a piece of code begin, by LLVM's disassembler.
#ifndef FRONTLOAD_TRACER_INSTRUCTIONS_H
#define FRONTLOAD_TRACER_INSTRUCTIONS_H

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace frontload {

/// The offsets of the instructions in `code`, which begins with one. Ends early at bytes that are
/// no instruction. The first offset is always 0.
std::vector<uint64_t> instructionOffsets(llvm::ArrayRef<uint8_t> code);

} // namespace frontload

#endif
