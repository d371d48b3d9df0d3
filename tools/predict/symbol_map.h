//===- symbol_map.h - finds what a trace touched in another build ----------===//
//
// A trace has addresses of the build that was recorded. Another layout of the same program has the
// same functions and data elsewhere, under the same names. Code of functions that were split is
// found by their basic blocks (block_pairs.h), and what has no name by what refers to it
// (references.h).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_SYMBOL_MAP_H
#define FRONTLOAD_TOOLS_PREDICT_SYMBOL_MAP_H

#include "predict/block_pairs.h"
#include "predict/references.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/ELFObjectFile.h"
#include <optional>
#include <tuple>

namespace frontload {

class SymbolMap {
public:
  /// Both files must have symbol tables, and outlive the map.
  static llvm::Expected<SymbolMap> create(const llvm::object::ELFObjectFileBase &recorded,
                                          const llvm::object::ELFObjectFileBase &target);

  /// Learns what the functions at these addresses of `recorded` refer to. Those that never ran
  /// would tell little more, and take their time.
  void learn(llvm::ArrayRef<uint64_t> touched);

  /// Where in `target` that is which has this address in `recorded`; nothing where it is not known,
  /// or not there.
  std::optional<uint64_t> find(uint64_t address) const;

private:
  /// The source file before the name of a local symbol, and nothing before that of a global one;
  /// then how many of that name come before it: statics of a file may share one, and each link of
  /// the same objects has them in the same order.
  using Name = std::tuple<llvm::StringRef, llvm::StringRef, unsigned>;
  struct Symbol {
    uint64_t address, size;
    bool isCode;
    Name name;
  };
  struct Section {
    uint64_t address, size;
  };

  enum class Likeness { None, JumpTable, SameBytes, SameString };

  SymbolMap(const llvm::object::ELFObjectFileBase &recordedFile,
            const llvm::object::ELFObjectFileBase &targetFile)
      : recordedImage(recordedFile), targetImage(targetFile) {}

  static llvm::Expected<std::vector<Symbol>> read(const llvm::object::ELFObjectFileBase &file);
  /// The symbol of `recorded` before or at an address; the end if there is none.
  std::vector<Symbol>::const_iterator symbolAt(uint64_t address) const;
  const Symbol *inTarget(const Symbol &symbol) const;
  std::optional<uint64_t> findByBlock(uint64_t address) const { return blocks.find(address); }
  std::optional<uint64_t> findByName(uint64_t address) const;
  std::optional<uint64_t> findByNeighbours(uint64_t address) const;
  std::optional<uint64_t> findByReference(uint64_t address) const;
  std::optional<uint64_t> findBySection(uint64_t address) const;
  Likeness compareTo(AddressPair pair, uint64_t address) const;
  void pairPointers();

  LinkedImage recordedImage, targetImage;
  BlockPairs blocks;
  std::vector<Symbol> recorded; // ascending
  llvm::DenseMap<Name, Symbol> target;
  std::vector<AddressPair> references, fromPointers; // sorted; the former have the latter
  std::vector<std::pair<Section, Section>> sections; // of one name in both builds
  bool isX86;
};

} // namespace frontload

#endif
