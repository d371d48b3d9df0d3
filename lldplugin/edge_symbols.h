//===- edge_symbols.h - the symbols that mark where code and data end ------===//
//
// Programs may refer to `_end`, `_edata` and `_etext`: garbage collectors scan from the start of
// the data to `_end`, embedded start-up code clears from `_edata` on. A linker derives them from
// the last segments of the file, which with a front are the cold ones, so they must be put back to
// where they belong. Only those that are referred to and not defined may be touched: `end` is a
// popular name.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_EDGE_SYMBOLS_H
#define FRONTLOAD_LLDPLUGIN_EDGE_SYMBOLS_H

#include "llvm/ADT/StringRef.h"

namespace frontload {

constexpr llvm::StringLiteral edgeSymbols[] = {"_end", "end", "_edata", "edata", "_etext", "etext"};
constexpr unsigned numEdgeSymbols = std::size(edgeSymbols);

/// One bit per edge symbol that the inputs refer to, and one per edge symbol that they define.
struct EdgeSymbols {
  uint8_t referred = 0;
  uint8_t defined = 0;

  /// `begin` is the beginning of the name of an undefined symbol, with the zero that ends a short
  /// one.
  void noteReference(llvm::StringRef begin) {
    if (begin.starts_with("e") || begin.starts_with("_e"))
      referred |= bitOf(begin.take_until([](char c) { return c == 0; }));
  }
  void noteDefinition(llvm::StringRef name) { defined |= bitOf(name); }
  void merge(EdgeSymbols other) {
    referred |= other.referred;
    defined |= other.defined;
  }
  /// Whether the linker has to provide `edgeSymbols[i]`.
  bool isNeeded(unsigned i) const { return referred & ~defined & (1 << i); }

private:
  static uint8_t bitOf(llvm::StringRef name) {
    if (name.size() > 6) // nearly all names
      return 0;
    for (unsigned i = 0; i < numEdgeSymbols; ++i)
      if (name == edgeSymbols[i])
        return 1 << i;
    return 0;
  }
};

} // namespace frontload

#endif
