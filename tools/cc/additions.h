// The flags that frontload-cc adds to a call.
//
// A front needs ld.frontload and its layout. If a build has chosen another linker for one of its
// programs, that program gets what this linker can do (other_linker.h). If the build has a layout
// of its own, the program is linked as without frontload-cc.
#pragma once

#include "cc/compiler.h"
#include "cc/compiler_command.h"
#include "cc/own_options.h"

namespace frontload {

struct Additions {
  /// They come before those of the build, which override them.
  std::vector<std::string> flags;
  /// If this is not empty, the note of the output gets the ranges of this profile after the link.
  std::string profileOfNote;
  std::string temporary; ///< a file to remove after the link; empty if there is none
};

/// Fills `additions` for one call of the last one of `words`, a compiler. Returns an error, if
/// there is one.
std::optional<Refusal> makeAdditions(const OwnOptions &options, const CompilerCommand &command,
                                     llvm::ArrayRef<const char *> words, Family family,
                                     Additions &additions);

} // namespace frontload
