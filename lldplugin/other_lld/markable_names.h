//===- markable_names.h - which names of sections a mark may overwrite -----===//
//
// Names in an object share bytes: `.text.f` is the end of `.rela.text.f`, and where one string
// table serves sections and symbols, the symbol `f` is the end of both. A mark (section_marks.h)
// may only overwrite bytes that are of the name of the section alone, or of names that no linker
// reads.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace frontload {

/// What is known of a section's name before it is marked.
struct MarkableName {
  /// Whether no other name begins or goes on in the bytes of the mark. Names of relocation sections
  /// do not count.
  bool isMarkable = false;
  /// A symbol that the section defines, if possible one that other objects see; empty if there is
  /// none.
  llvm::StringRef symbol;
  /// Whether the linker merges the section's contents with those of other objects.
  bool isMerged = false;
};

/// Looks at `names`, which lie in the section names of `object`.
std::vector<MarkableName> lookAtNames(llvm::StringRef object, llvm::ArrayRef<const char *> names);

} // namespace frontload
