// The basic blocks of a function.
//
// clang -fbasic-block-address-map writes the addresses of basic blocks into sections of the type
// SHT_LLVM_BB_ADDR_MAP (LLVM's docs/Extensions.rst). LLVM reads them; this is the part that
// Frontload needs.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace frontload {

struct Block {
  uint64_t address; ///< in a linked file, otherwise the offset in its section
  uint32_t size;    ///< in bytes; 0 is possible: then it shares its address with the next
  uint32_t id;      ///< as in clang -fbasic-block-sections=list=; 0 is the entry
  bool isLandingPad;
};

struct FunctionBlocks {
  uint64_t address; ///< of the entry, as that of a block
  /// The hash of everything that stays when blocks move: their ids, calls and ends. Functions with
  /// the same hash have, as far as the map shows, the same blocks with the same ids.
  uint64_t hash;
  std::vector<Block> blocks; ///< by address
};

/// The functions that have a map, by address: of a linked file, or those of one section of an
/// object. There are none in a file that was compiled without maps. An error says what is wrong
/// with the file.
llvm::Expected<std::vector<FunctionBlocks>>
readBlockMap(llvm::MemoryBufferRef file, std::optional<uint32_t> section = std::nullopt);

} // namespace frontload
