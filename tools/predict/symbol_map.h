// Finds touches of a trace in another build.
//
// A trace has addresses of the build that was recorded. Another layout of the same program has the
// same functions and data elsewhere, under the same names. Code of functions that were split is
// found by their basic blocks, and data without a name by references to it (build_pairs.h).
#pragma once

#include "predict/build_pairs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Object/ELFObjectFile.h"
#include <optional>
#include <tuple>

namespace frontload {

/// A linked file, and the file with its symbols and map of blocks: itself, or its debug file.
struct Build {
  Build(const llvm::object::ELFObjectFileBase &whole) : file(whole), symbols(whole) {}
  Build(const llvm::object::ELFObjectFileBase &stripped,
        const llvm::object::ELFObjectFileBase &debug)
      : file(stripped), symbols(debug) {}
  const llvm::object::ELFObjectFileBase &file, &symbols;
};

class SymbolMap {
public:
  /// All files must outlive the map.
  static llvm::Expected<SymbolMap> create(const Build &recorded, const Build &target);

  /// Reads the references of the functions at these addresses of `recorded`. Functions that never
  /// ran would add little, and take time.
  void learn(llvm::ArrayRef<uint64_t> touched);

  /// The address in `target` that matches this one in `recorded`; nothing if it is unknown.
  std::optional<uint64_t> find(uint64_t address) const;

private:
  /// Of a symbol: the source file if it is local, its name, and the number of earlier ones with
  /// both. Statics of a file may share a name, and each link of the same objects has them in the
  /// same order.
  using Name = std::tuple<llvm::StringRef, llvm::StringRef, unsigned>;
  struct Symbol {
    uint64_t address, size;
    bool isCode;
    Name name;
  };
  struct Section {
    uint64_t address, size;
  };

  SymbolMap(LinkedFile one, LinkedFile other)
      : recordedImage(std::move(one)), targetImage(std::move(other)) {}

  static llvm::Expected<std::vector<Symbol>> read(const llvm::object::ELFObjectFileBase &file);
  static llvm::MapVector<llvm::StringRef, Section>
  orderedSections(const llvm::object::ELFObjectFileBase &file);
  /// The symbol of `recorded` before or at an address; the end if there is none.
  std::vector<Symbol>::const_iterator symbolAt(uint64_t address) const;
  const Symbol *inTarget(const Symbol &symbol) const;
  std::optional<uint64_t> findByBlock(uint64_t address) const { return blocks.find(address); }
  std::optional<uint64_t> findByName(uint64_t address) const;
  std::optional<uint64_t> findByReference(uint64_t address) const;
  std::optional<uint64_t> findBySection(uint64_t address) const;
  void pairPointers();

  LinkedFile recordedImage, targetImage;
  BlockPairs blocks;
  std::vector<Symbol> recorded; // ascending
  llvm::DenseMap<Name, Symbol> target;
  std::vector<AddressPair> references, fromPointers; // sorted; the former include the latter
  std::vector<std::pair<Section, Section>> sections; // of one name in both builds
  bool isX86;
};

} // namespace frontload
