//===- placed_sections.h - which planned sections another lld has placed ---===//
//
// Most of what is planned is in archives of which a link takes some members, or is one of many
// copies of which it takes one. The embedded lld asks about what it takes; after a link by another
// lld, its output tells.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_OTHER_LLD_PLACED_SECTIONS_H
#define FRONTLOAD_LLDPLUGIN_OTHER_LLD_PLACED_SECTIONS_H

#include "plan/front_link.h"

namespace frontload {

/// A section that may be in the link.
struct KnownSection {
  const char *name; ///< as in StartupSection
  const InputObject *object;
  llvm::StringRef symbol; ///< one that is defined in it; empty if there is none
  bool isMerged;          ///< with those of other objects, so that its place is not told
};

/// Tells `link` which of the sections are in the link, by the names of the symbols in `output`: of
/// each name that is there all copies count, and what has no symbol counts if anything of its
/// object does. That is good enough to tell which names of the profile are found. Returns false if
/// the output has no symbols.
bool placeBySymbols(FrontLink &link, llvm::ArrayRef<KnownSection> sections, llvm::StringRef output);

/// The same by the linker's map, without marks; exactly, but for merged sections, which count if
/// anything of their object does. A map of a large program takes a linker
/// half as long as the link.
void placeByMap(FrontLink &link, llvm::ArrayRef<KnownSection> sections, llvm::StringRef map);

} // namespace frontload

#endif
