//===- block_pairs.cpp - the same basic blocks in two builds ---------------===//

#include "predict/block_pairs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace frontload {

BlockPairs::BlockPairs(const std::vector<FunctionBlocks> &recorded,
                       const std::vector<FunctionBlocks> &target,
                       function_ref<std::optional<uint64_t>(uint64_t)> inTarget) {
  DenseMap<uint64_t, const FunctionBlocks *> byAddress;
  for (const FunctionBlocks &function : target)
    byAddress.try_emplace(function.address, &function);
  for (const FunctionBlocks &function : recorded) {
    std::optional<uint64_t> place = inTarget(function.address);
    const FunctionBlocks *other = place ? byAddress.lookup(*place) : nullptr;
    if (!other || other->hash != function.hash)
      continue;
    DenseMap<uint32_t, const Block *> byId;
    for (const Block &block : other->blocks)
      byId.try_emplace(block.id, &block);
    for (const Block &block : function.blocks)
      if (const Block *same = byId.lookup(block.id); same && block.size && same->size)
        pairs.push_back({block.address, same->address, block.size, same->size});
  }
  llvm::sort(pairs, [](const Pair &a, const Pair &b) { return a.recorded < b.recorded; });
}

std::optional<uint64_t> BlockPairs::find(uint64_t address) const {
  auto next = partition_point(pairs, [&](const Pair &pair) { return pair.recorded <= address; });
  if (next == pairs.begin())
    return std::nullopt;
  const Pair &pair = *std::prev(next);
  uint64_t offset = address - pair.recorded;
  if (offset >= pair.recordedSize)
    return std::nullopt;
  return pair.target + std::min<uint64_t>(offset, pair.targetSize - 1);
}

void BlockPairs::forEachIn(uint64_t begin, uint64_t end,
                           function_ref<void(uint64_t, uint64_t, uint64_t)> visit) const {
  auto next = partition_point(pairs, [&](const Pair &pair) { return pair.recorded < begin; });
  for (; next != pairs.end() && next->recorded < end; ++next)
    visit(next->recorded, next->target, std::min(next->recordedSize, next->targetSize));
}

} // namespace frontload
