//===- prefetch_library.h - what --front-prefetch adds to a link -----------===//
//
// A program that asks for its own front needs instrument/prefetch: as one of the libraries that it
// needs, or, without a dynamic linker, inside the program.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_PREFETCH_LIBRARY_H
#define FRONTLOAD_LLDPLUGIN_LLD_PREFETCH_LIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace frontload {

/// The arguments to put behind `args`, those of a link (response files expanded), so that the
/// program prefetches its front. None for a shared library: nothing of it runs before it is
/// relocated, so whoever opens it has to ask (frontload_prefetch.h). Fails with what is missing.
llvm::Expected<std::vector<std::string>> prefetchArguments(llvm::ArrayRef<const char *> args);

} // namespace frontload

#endif
