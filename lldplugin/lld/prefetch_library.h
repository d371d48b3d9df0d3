//===- prefetch_library.h - what --front-prefetch adds to a link -----------===//
//
// A program that asks for its own front contains instrument/prefetch, or needs it as a library and
// does not start without it. Code inside the program runs later: by then the dynamic linker has
// applied the relative relocations, and has read all pages that they change.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_PREFETCH_LIBRARY_H
#define FRONTLOAD_LLDPLUGIN_LLD_PREFETCH_LIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace frontload {

/// The arguments to put behind `args` (response files expanded), so that the program prefetches its
/// front: by a library, or, if `isInside` or without a dynamic linker, by code inside the program.
/// None for a shared library: none of its code runs before it is relocated, so the program that
/// opens it has to ask (frontload_prefetch.h). Fails if the library is missing or does not fit the
/// libc.
llvm::Expected<std::vector<std::string>> prefetchArguments(llvm::ArrayRef<const char *> args,
                                                           bool isInside);

} // namespace frontload

#endif
