//===- linking.h - links with a front, or without one ----------------------===//

#pragma once

#include "lld/link_options.h"

namespace frontload {

/// Links by the command line: `args` is all of it, `others` are lld's arguments. Returns the exit
/// code.
int linkByOptions(llvm::ArrayRef<const char *> args, llvm::ArrayRef<const char *> others,
                  LinkOptions &options);

} // namespace frontload
