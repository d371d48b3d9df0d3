//===- linking.h - links with a front, or without one ----------------------===//
//
// The built-in lld links, or, with --lld, another one.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_LINKING_H
#define FRONTLOAD_LLDPLUGIN_LLD_LINKING_H

#include "lld/link_options.h"

namespace frontload {

/// Links as lld does, with its `args`, the first of which is the program's name. Returns the exit
/// code.
int linkAsIs(llvm::ArrayRef<const char *> args);

/// Becomes the other linker, for a link that has no front. Returns the exit code of a failure.
int becomeOther(const LldProgram &program, llvm::ArrayRef<const char *> args);

/// Links with lld alone, but for the profile, which is an input. Returns the exit code.
int linkWithoutFront(llvm::ArrayRef<const char *> args, const LinkOptions &options);

/// Links with a front, by lld's `args`. Returns the exit code.
int linkWithFront(llvm::ArrayRef<const char *> args, LinkOptions &options);

} // namespace frontload

#endif
