//===- placed_sections.h - which planned sections another lld has placed ---===//
//
// Most planned sections are in members of archives that a link may not take, or are one of many
// copies of which it takes one. The embedded lld asks about the sections that it takes; after a
// link by another lld, the output or the map shows them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "plan/front_link.h"

namespace frontload {

/// A section that may be in the link.
struct KnownSection {
  const char *name; ///< as in StartupSection
  const InputObject *object;
  llvm::StringRef symbol; ///< one that is defined in it; empty if there is none
  bool isMerged;          ///< with those of other objects, so that its place is unknown
};

/// Tells `link` which of the sections are in the link, by the symbols of `output`: all copies of a
/// symbol that is there count, and a section without a symbol counts if any section of its object
/// does. That suffices to tell which symbols of the profile are found.
void placeBySymbols(FrontLink &link, llvm::ArrayRef<KnownSection> sections, llvm::StringRef output);

/// The same by the linker's map, without marks. Exact but for names with line breaks, and for
/// merged sections, which count if any section of their object does. A map of a large program takes
/// a linker half as long as the link.
void placeByMap(FrontLink &link, llvm::ArrayRef<KnownSection> sections, llvm::StringRef map);

} // namespace frontload
