//===- output_kind.h - what kind of file a linker is to make ---------------===//
//
// An object, a program at a fixed place, a position-independent one, a shared library: several
// options decide it, each in several spellings, and the last of contradictory options counts. All
// users of the kind read it here, so that they agree with the linker.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_OUTPUT_KIND_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_OUTPUT_KIND_H

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace frontload {

struct OutputKind {
  bool isRelocatable = false; ///< an object: -r
  bool isPie = false;
  bool isShared = false;
  /// Empty for a static program. Compiler drivers always name the dynamic linker of a dynamic one;
  /// -static comes and goes between libraries.
  std::string dynamicLinker;

  /// Whether the loader chooses its place, and so relocates its data.
  bool isRelocated() const { return isPie || isShared; }

  /// If `args[i]` is one of these options, notes it, moves `i` to the last argument used, and
  /// returns true.
  bool take(llvm::ArrayRef<const char *> args, size_t &i);
};

/// The kind by all of `args`.
OutputKind outputKind(llvm::ArrayRef<const char *> args);

} // namespace frontload

#endif
