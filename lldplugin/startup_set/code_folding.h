//===- code_folding.h - which code a linker may fold -----------------------===//
//
// With --icf=all a linker keeps one of several identical functions. With --icf=safe it folds only
// functions whose addresses do not matter: compilers list the symbols with significant addresses in
// each object (.llvm_addrsig). To lld, all symbols of an object without a list are significant, and
// all that the output exports.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_CODE_FOLDING_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_CODE_FOLDING_H

#include "startup_set/folding.h"
#include "startup_set/object_scan.h"

namespace frontload {

/// A section of code that may be folded with others of the same hash.
struct FoldableCode {
  uint32_t section;
  uint64_t hash;
  bool isNamed; ///< in the profile
};
using FoldableCodes = llvm::SmallVector<FoldableCode, 0>;

/// Whether code of `object` may be folded at all.
template <class ELFT> bool mayFold(const ElfObject<ELFT> &object, Folding folding);

/// Drops identical code that the linker keeps apart; `codes` has a list for each object.
template <class ELFT>
void dropKeptApart(const ObjectScans<ELFT> &scans, Folding folding,
                   std::vector<FoldableCodes> &codes);

} // namespace frontload

#endif
