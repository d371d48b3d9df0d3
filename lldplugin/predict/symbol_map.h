//===- symbol_map.h - finds what a trace touched in another build ----------===//
//
// A trace has addresses of the build that was recorded. Another layout of the same program has the
// same functions and data elsewhere, under the same names.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PREDICT_SYMBOL_MAP_H
#define FRONTLOAD_LLDPLUGIN_PREDICT_SYMBOL_MAP_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/ELFObjectFile.h"
#include <optional>
#include <vector>

namespace frontload {

class SymbolMap {
public:
  /// Both files must have symbol tables, and outlive the map.
  static llvm::Expected<SymbolMap> create(const llvm::object::ELFObjectFileBase &recorded,
                                          const llvm::object::ELFObjectFileBase &target);

  /// Where in `target` the symbol is that has this address in `recorded`, the offset in it kept;
  /// nothing where no symbol of both builds has it.
  std::optional<uint64_t> find(uint64_t address) const;

private:
  struct Symbol {
    uint64_t address, size;
    /// The source file before the name of a local symbol, and nothing before that of a global one.
    std::pair<llvm::StringRef, llvm::StringRef> name;
  };
  static llvm::Expected<std::vector<Symbol>> read(const llvm::object::ELFObjectFileBase &file);

  std::vector<Symbol> recorded; // ascending
  llvm::DenseMap<std::pair<llvm::StringRef, llvm::StringRef>, Symbol> target;
};

} // namespace frontload

#endif
