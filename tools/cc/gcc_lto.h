// Objects that only gcc's own linker plugin can read.
//
// `gcc -flto -c` writes its view of the source, in sections named .gnu.lto_*, and no code: a linker
// without gcc's plugin sees an empty object. With -ffat-lto-objects there is also code, and any
// linker can link it. A build need not pass -flto at the link: gcc finds out.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace frontload {

/// Whether the bytes of `file` are an object of gcc's -flto without code, or an archive with one.
/// Only headers and names of sections are looked at. The members of a thin archive are files of
/// their own: `needsMember` is asked with the path of each, relative to the archive.
bool needsGccLto(
    llvm::StringRef file,
    llvm::function_ref<bool(llvm::StringRef)> needsMember = [](llvm::StringRef) { return false; });

} // namespace frontload
