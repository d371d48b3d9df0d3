//===- masquerade.h - frontload-cc under the name of a compiler ------------===//
//
// A link to frontload-cc named `cc`, in a folder that comes first in PATH, stands before the real
// `cc`, as links to ccache do. Any search for `cc` then finds frontload-cc, even its own search, so
// frontload-cc looks further in PATH, or it would call itself without end.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_CC_MASQUERADE_H
#define FRONTLOAD_TOOLS_CC_MASQUERADE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace frontload {

/// Whether frontload-cc, called by `name`, is to be that compiler.
bool isMasquerade(llvm::StringRef name);

/// Whether `program`, as a shell would find it, is frontload-cc.
bool isOurselves(llvm::StringRef program);

/// Another place of a program.
struct Elsewhere {
  std::string program;
  std::string path; ///< PATH without the folders where it is frontload-cc
};

/// The first program of that file name in PATH that is not frontload-cc. With the returned PATH,
/// launchers in between do not call frontload-cc again.
std::optional<Elsewhere> lookFurther(llvm::StringRef program);

} // namespace frontload

#endif
