// Reads the map of basic blocks, and compares it with the code.
#include "block_starts.h"

#include "format/frontload_block_map.h"
#include "instructions.h"
#include "recorder/bytes_left.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::object;
using namespace frontload;

/// The code from an address to the end of its section.
static ArrayRef<uint8_t> codeAt(ArrayRef<CodeSection> code, uint64_t address) {
  const CodeSection *section = sectionAt(code, address);
  return section ? section->bytes.drop_front(address - section->begin) : ArrayRef<uint8_t>();
}

/// Adds the blocks of a part of a function; returns whether they fit its symbol and its code.
static bool addBlocks(const BBAddrMap::BBRangeEntry &range, std::optional<uint64_t> symbolSize,
                      ArrayRef<uint8_t> code, BytesLeft &left, std::vector<uint64_t> &starts) {
  uint64_t size = 0;
  for (const BBAddrMap::BBEntry &block : range.BBEntries)
    size = std::max(size, uint64_t(block.Offset) + block.Size);
  if (!size)
    return true;
  if (symbolSize != size || size > code.size() || !left.take(size))
    return false;
  std::vector<uint64_t> offsets = instructionOffsets(code.take_front(size));
  for (const BBAddrMap::BBEntry &block : range.BBEntries) {
    if (!block.Size)
      continue;
    if (!llvm::binary_search(offsets, uint64_t(block.Offset)))
      return false;
    starts.push_back(range.BaseAddress + block.Offset);
  }
  return true;
}

std::vector<uint64_t>
frontload::blockStarts(MemoryBufferRef file, ArrayRef<CodeSection> code,
                       function_ref<std::optional<uint64_t>(uint64_t)> sizeAt) {
  auto object = ELFObjectFile<ELF64LE>::create(file);
  if (!object) {
    consumeError(object.takeError());
    return {};
  }
  auto maps = readBlockMaps(*object);
  if (!maps) {
    consumeError(maps.takeError());
    return {};
  }
  std::vector<uint64_t> all;
  BytesLeft left(file.getBufferSize());
  for (const BBAddrMap &map : *maps) {
    std::vector<uint64_t> starts;
    bool isRight = llvm::all_of(map.BBRanges, [&](const BBAddrMap::BBRangeEntry &range) {
      return addBlocks(range, sizeAt(range.BaseAddress), codeAt(code, range.BaseAddress), left,
                       starts);
    });
    if (isRight)
      llvm::append_range(all, starts);
  }
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  return all;
}
