//===- touched_blocks.h - which blocks ran, by the code that was touched ---===//
//
// A recorder records the first instruction that ran in each part of 4 bytes of code. Two blocks
// that begin in one part share its single event.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_BLOCKS_TOUCHED_BLOCKS_H
#define FRONTLOAD_TOOLS_BLOCKS_TOUCHED_BLOCKS_H

#include "elf/block_map.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace frontload {

enum class BlockState {
  Untouched, ///< it did not run: nothing ran in the part that it begins in
  Perhaps,   ///< another block ran first in that part; this one may have run later
  Touched,   ///< it ran
};

/// The state of each block of a function. `addresses`, which ascend, are of the first instructions
/// that ran in the parts of the program. An empty block has the state of the block at its address.
std::vector<BlockState> blockStates(const FunctionBlocks &function,
                                    llvm::ArrayRef<uint64_t> addresses);

} // namespace frontload

#endif
