// The basic blocks of a function.
#include "elf/block_map.h"
#include "frontload_block_map.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// Hashes three words for each block, by id.
static uint64_t hashOf(const BBAddrMap &map) {
  std::vector<const BBAddrMap::BBEntry *> entries;
  for (const BBAddrMap::BBRangeEntry &range : map.BBRanges)
    for (const BBAddrMap::BBEntry &entry : range.BBEntries)
      entries.push_back(&entry);
  llvm::sort(entries, [](const auto *a, const auto *b) { return a->ID < b->ID; });
  std::vector<uint8_t> bytes(entries.size() * 12);
  uint8_t *at = bytes.data();
  for (const BBAddrMap::BBEntry *entry : entries) {
    // A new layout changes which block is the next.
    BBAddrMap::BBEntry::Metadata ends = entry->MD;
    ends.CanFallThrough = false;
    support::endian::write32le(at, entry->ID);
    support::endian::write32le(at + 4, ends.encode());
    support::endian::write32le(at + 8, uint32_t(entry->CallsiteEndOffsets.size()));
    at += 12;
  }
  return xxh3_64bits(bytes);
}

static FunctionBlocks blocksOf(const BBAddrMap &map) {
  FunctionBlocks function{map.getFunctionAddress(), hashOf(map), {}};
  for (const BBAddrMap::BBRangeEntry &range : map.BBRanges)
    for (const BBAddrMap::BBEntry &entry : range.BBEntries)
      function.blocks.push_back(
          {range.BaseAddress + entry.Offset, entry.Size, entry.ID, entry.MD.IsEHPad});
  // Empty blocks stay before the block with the same address.
  llvm::stable_sort(function.blocks,
                    [](const Block &a, const Block &b) { return a.address < b.address; });
  return function;
}

Expected<std::vector<FunctionBlocks>> readBlockMap(MemoryBufferRef file,
                                                   std::optional<uint32_t> section) {
  auto object = ObjectFile::createELFObjectFile(file);
  if (!object)
    return object.takeError();
  auto maps = readBlockMaps(cast<ELFObjectFileBase>(**object), section);
  if (!maps)
    return maps.takeError();
  std::vector<FunctionBlocks> functions;
  for (const BBAddrMap &map : *maps)
    if (!map.BBRanges.empty())
      functions.push_back(blocksOf(map));
  llvm::sort(functions, [](const auto &a, const auto &b) { return a.address < b.address; });
  return functions;
}

} // namespace frontload
