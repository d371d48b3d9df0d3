//===- touched_blocks.h - which blocks ran, by the code that was touched ---===//
//
// A recorder says where in each part of code, of 4 bytes, the first instruction was that ran.
// Blocks are not parts: two that begin in one have a single event there between them.
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
  Perhaps,   ///< another block ran first in that part, and nothing tells whether it did, too
  Touched,   ///< it ran
};

/// The state of each block of a function. `addresses`, which ascend, are of the first instructions
/// that ran in the parts of the program. Blocks of no size are as what they share their address
/// with.
std::vector<BlockState> blockStates(const FunctionBlocks &function,
                                    llvm::ArrayRef<uint64_t> addresses);

} // namespace frontload

#endif
