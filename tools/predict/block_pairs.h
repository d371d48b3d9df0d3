//===- block_pairs.h - the same basic blocks in two builds -----------------===//
//
// A function that was split by its basic blocks lies in two places, so an offset in it means
// nothing. If both builds have maps of their blocks (elf/block_map.h), and the function has the
// same blocks in both, each block is found by its id.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_BLOCK_PAIRS_H
#define FRONTLOAD_TOOLS_PREDICT_BLOCK_PAIRS_H

#include "elf/block_map.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace frontload {

class BlockPairs {
public:
  BlockPairs() = default;
  /// `inTarget` returns the address in `target` of the function at an address in `recorded`.
  BlockPairs(const std::vector<FunctionBlocks> &recorded, const std::vector<FunctionBlocks> &target,
             llvm::function_ref<std::optional<uint64_t>(uint64_t)> inTarget);

  /// The address in `target` of the code at this address in `recorded`. If the block is shorter
  /// there, because it no longer jumps to the next one, at most its last byte.
  std::optional<uint64_t> find(uint64_t address) const;

  /// Calls `visit` for each block of `recorded` from `begin` to before `end`, with its addresses
  /// and its common size in both.
  void forEachIn(
      uint64_t begin, uint64_t end,
      llvm::function_ref<void(uint64_t recorded, uint64_t target, uint64_t size)> visit) const;

private:
  struct Pair {
    uint64_t recorded, target;
    uint32_t recordedSize, targetSize;
  };
  std::vector<Pair> pairs; // by their addresses in `recorded`
};

} // namespace frontload

#endif
