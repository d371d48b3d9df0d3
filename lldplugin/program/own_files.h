//===- own_files.h - files that were built or installed with ld.frontload --===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace frontload {

/// The archive of the code that prefetches the front inside a program.
constexpr llvm::StringLiteral prefetchArchive = "libfrontload-prefetch.a";

/// Where a library of ours is: beside the folder that this program was built or installed to.
llvm::Expected<std::string> findOwnLibrary(llvm::StringRef name);

} // namespace frontload
