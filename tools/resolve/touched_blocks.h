// Which blocks ran, by the code that was touched.
//
// A recorder records the first instruction that ran in each part of 4 bytes of code. Two blocks
// that begin in one part share its single event.
#pragma once

#include "elf/block_map.h"
#include "frontload_trace.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdint>
#include <vector>

namespace frontload {

enum class BlockState {
  Untouched, ///< it did not run: nothing ran in the part that it begins in
  Perhaps,   ///< another block ran first in that part; this one may have run later
  Touched,   ///< it ran
};

/// A larger block has an instruction that begins in another part than the block does: none of
/// x86-64 is longer than 15 bytes.
constexpr uint64_t maxInOnePart = FRONTLOAD_CODE_PART - 1 + 15;

inline BlockState stateOf(uint64_t begin, uint64_t size, llvm::ArrayRef<uint64_t> addresses) {
  constexpr uint64_t part = FRONTLOAD_CODE_PART;
  auto isTouched = [&](uint64_t from, uint64_t bytes) {
    const uint64_t *found = llvm::lower_bound(addresses, from);
    return found != addresses.end() && *found - from < bytes;
  };
  if (isTouched(begin, size))
    return BlockState::Touched;
  // Another block may also have been first where this one ends.
  bool mayHide = size < maxInOnePart + part;
  return mayHide && isTouched(begin / part * part, part) ? BlockState::Perhaps
                                                         : BlockState::Untouched;
}

/// The state of each block of a function. `addresses`, which ascend, are of the first instructions
/// that ran in the parts of the program. An empty block has the state of the block at its address.
inline std::vector<BlockState> blockStates(const FunctionBlocks &function,
                                           llvm::ArrayRef<uint64_t> addresses) {
  std::vector<BlockState> states(function.blocks.size());
  for (size_t i = states.size(); i-- > 0;) {
    const Block &block = function.blocks[i];
    bool sharesAddress =
        !block.size && i + 1 < states.size() && function.blocks[i + 1].address == block.address;
    states[i] = sharesAddress ? states[i + 1] : stateOf(block.address, block.size, addresses);
  }
  return states;
}

} // namespace frontload
