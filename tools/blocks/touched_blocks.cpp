//===- touched_blocks.cpp - which blocks ran, by the code that was touched -===//

#include "blocks/touched_blocks.h"
#include "frontload_trace.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace frontload {

/// A larger block has an instruction that begins in another part than the block does: none of
/// x86-64 is longer than 15 bytes.
static constexpr uint64_t maxInOnePart = FRONTLOAD_CODE_PART - 1 + 15;

static BlockState stateOf(uint64_t begin, uint64_t size, ArrayRef<uint64_t> addresses) {
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

std::vector<BlockState> blockStates(const FunctionBlocks &function, ArrayRef<uint64_t> addresses) {
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
