//===- added_arguments.h - what a front adds to lld's command line ---------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_ADDED_ARGUMENTS_H
#define FRONTLOAD_LLDPLUGIN_LLD_ADDED_ARGUMENTS_H

#include "lld/link_options.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// The arguments to put behind those of the user. Fails if --front-prefetch needs a library that is
/// missing or does not fit the libc.
llvm::Expected<std::vector<std::string>> addedArguments(const LinkOptions &options);

} // namespace frontload

#endif
