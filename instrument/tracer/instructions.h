// Where the instructions of a piece of code begin, by LLVM's disassembler.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <set>
#include <vector>

namespace frontload {

/// The offsets of the instructions in `code`, which begins with one. Ends early at bytes that are
/// no instruction. The first offset is always 0.
std::vector<uint64_t> instructionOffsets(llvm::ArrayRef<uint8_t> code);

/// Follows instructions through a section, from each place where one is known to begin, and where
/// they jump to. Streams from two places mostly meet after a few instructions.
class InstructionStreams {
public:
  explicit InstructionStreams(llvm::ArrayRef<uint8_t> sectionCode)
      : code(sectionCode), end(code.size()) {}

  /// A stream begins at `offset`. No earlier one runs into it.
  void restart(uint64_t offset);
  /// Follows the streams to `offset`, and begins one there. False if an instruction that begins
  /// before may contain the byte at `offset`. Offsets ascend.
  bool reach(uint64_t offset);
  /// What lies between the end and the next offset is no code.
  void endAt(uint64_t offset) { end = std::min<uint64_t>(offset, code.size()); }
  bool isInside(uint64_t offset) const { return offset < end; }

private:
  llvm::ArrayRef<uint8_t> code;
  uint64_t end;
  std::set<uint64_t> nexts; // where instructions begin that are still to be decoded
  uint64_t covered = 0;     // the end of those that are decoded
};

} // namespace frontload
