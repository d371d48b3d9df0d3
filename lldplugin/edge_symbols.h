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

  void note(llvm::StringRef name, bool isDefined) {
    // Nearly all names end here.
    if (name.size() < 3 || name.size() > 6 || !name.contains('e'))
      return;
    for (unsigned i = 0; i < numEdgeSymbols; ++i)
      if (name == edgeSymbols[i])
        (isDefined ? defined : referred) |= 1 << i;
  }
  void merge(EdgeSymbols other) {
    referred |= other.referred;
    defined |= other.defined;
  }
  /// Whether the linker has to provide `edgeSymbols[i]`.
  bool isNeeded(unsigned i) const { return referred & ~defined & (1 << i); }
};

} // namespace frontload

#endif
