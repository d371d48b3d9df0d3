// What another linker can do for a start.
//
// A build may have chosen mold, GNU ld, gold or an lld of its own. Such a link gets the order that
// its linker can take, packed relative relocations if program and C library support them, and room
// for a note, which frontload-cc fills in after the link.
#pragma once

#include "cc/additions.h"

namespace frontload {

/// Adds what the linker of this link can do with `profile`, and prints what that is; `why` says why
/// it is not ld.frontload. The last one of `words` is the compiler, which knows its linker. Returns
/// false, and adds nothing, if the linker is unknown or links for another machine than ours.
bool addForOtherLinker(const OwnOptions &options, const CompilerCommand &command,
                       llvm::ArrayRef<const char *> words, llvm::StringRef profile,
                       llvm::StringRef why, Additions &additions);

} // namespace frontload
