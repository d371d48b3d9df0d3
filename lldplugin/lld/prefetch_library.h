//===- prefetch_library.h - what --front-prefetch adds to a link -----------===//
//
// A program that asks for its own front needs instrument/prefetch: as one of the libraries that it
// needs, without which it does not start, or inside the program. There it runs later: the dynamic
// linker has applied the relative relocations, and has read all that these change.
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
/// relocated, so whoever opens it has to ask (frontload_prefetch.h). What prefetches is a library,
/// or, if `isInside` or there is no dynamic linker, a part of the program. Fails with what is
/// missing.
llvm::Expected<std::vector<std::string>> prefetchArguments(llvm::ArrayRef<const char *> args,
                                                           bool isInside);

} // namespace frontload

#endif
