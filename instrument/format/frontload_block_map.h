// The maps of basic blocks of a file (SHT_LLVM_BB_ADDR_MAP), checked before LLVM decodes them.
//
// LLVM allocates what the counts in these sections promise before it checks the size: a damaged
// section of some bytes takes gigabytes. So the sections are checked first, by the description in
// LLVM's docs/Extensions.rst. This is C++, unlike the other headers of formats: readers of such
// maps are linked with LLVM.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include <optional>
#include <vector>

namespace frontload {

/// Whether such a section is as long as its own counts say. Maps with a compiler's profile (counts
/// or frequencies) are refused: nothing here reads them.
inline bool hasWholeBlockMap(llvm::StringRef section, bool isLittleEndian, uint8_t addressSize) {
  enum : unsigned { OfProfile = 0b10000111, MultiRange = 8, NoBlocks = 16, Calls = 32, Hash = 64 };
  llvm::DataExtractor data(section, isLittleEndian, addressSize);
  llvm::DataExtractor::Cursor at(0);
  bool isWhole = true;
  while (isWhole && at && at.tell() < section.size()) {
    uint8_t version = data.getU8(at);
    unsigned features = version < 5 ? data.getU8(at) : data.getU16(at);
    isWhole = at && version >= 2 && version <= 5 && !(features & OfProfile);
    uint64_t ranges = isWhole && (features & MultiRange) ? data.getULEB128(at) : 1;
    for (; isWhole && at && ranges; --ranges) {
      data.getAddress(at);
      uint64_t blocks = data.getULEB128(at);
      if (features & NoBlocks)
        continue;
      for (; isWhole && at && blocks; --blocks) {
        data.getULEB128(at); // its id
        data.getULEB128(at); // its offset
        for (uint64_t calls = (features & Calls) ? data.getULEB128(at) : 0; at && calls; --calls)
          data.getULEB128(at);
        data.getULEB128(at); // its size
        data.getULEB128(at); // how it ends
        if (features & Hash)
          data.getU64(at);
      }
    }
  }
  isWhole &= bool(at);
  llvm::consumeError(at.takeError());
  return isWhole;
}

/// The maps of a linked file, or of one section of an object. An error says what is wrong.
inline llvm::Expected<std::vector<llvm::object::BBAddrMap>>
readBlockMaps(const llvm::object::ELFObjectFileBase &file,
              std::optional<uint32_t> section = std::nullopt) {
  for (llvm::object::ELFSectionRef each : file.sections()) {
    if (each.getType() != llvm::ELF::SHT_LLVM_BB_ADDR_MAP)
      continue;
    llvm::Expected<llvm::StringRef> contents = each.getContents();
    if (!contents)
      return contents.takeError();
    if (!hasWholeBlockMap(*contents, file.isLittleEndian(), file.getBytesInAddress()))
      return llvm::createStringError(
          "its map of basic blocks is damaged, or of a profile of the compiler");
  }
  return file.readBBAddrMap(section);
}

} // namespace frontload
